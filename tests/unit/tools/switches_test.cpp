// SPDX-License-Identifier: Apache-2.0
// What switches in sequences of a few pixels, against values worked out by hand.
#include "inference/tools/evaluate/switches.h"

#include <gtest/gtest.h>

#include <string_view>

namespace matte {
namespace {

/// One pixel a letter: P for the person, anything else for the background.
Planes plane(std::string_view pixels) {
    Planes planes({int(pixels.size()), 1}, 1);
    for (std::size_t i = 0; i < pixels.size(); ++i) planes.values[i] = pixels[i] == 'P' ? 0.9F : 0.1F;
    return planes;
}

TEST(Switches, AreTurnsThereAndBack) {
    SwitchMeter meter;
    meter.add(plane("PPP."), nullptr, 5.0);
    EXPECT_FALSE(meter.all());
    // The first pixel is lost for a moment, the third stays lost, the fourth comes up for a moment.
    meter.add(plane(".P.."), nullptr, 5.1);
    meter.add(plane(".P.P"), nullptr, 5.2);
    EXPECT_EQ(meter.all(), 0) << "nothing has turned back yet";
    meter.add(plane("PP.."), nullptr, 5.5);
    EXPECT_NEAR(meter.all().value_or(-1), 2.0 / 4 / 0.5, 1e-9) << "two of four pixels in half a second";
    EXPECT_FALSE(meter.wrong()) << "no truth";
}

TEST(Switches, CountAPixelEachTime) {
    SwitchMeter meter;
    const Planes truth = plane("P");
    for (int i = 0; i < 6; ++i) meter.add(plane(i % 2 ? "." : "P"), &truth, i / 10.0);
    // P.P.P. has four runs between two others, of which the person's are right.
    EXPECT_NEAR(meter.all().value_or(-1), 4 / 0.5, 1e-9);
    EXPECT_NEAR(meter.wrong().value_or(-1), 2 / 0.5, 1e-9);
}

TEST(Switches, LastASecondAtMost) {
    for (const int frames : {30, 31}) {
        SwitchMeter meter;
        meter.add(plane("P"), nullptr, 0);
        for (int i = 1; i <= frames; ++i) meter.add(plane("."), nullptr, i / 30.0);
        meter.add(plane("P"), nullptr, (frames + 1) / 30.0);
        EXPECT_EQ(meter.all().value_or(-1) > 0, frames == 30) << frames;
    }
}

TEST(Switches, AreWrongWhenTheTruthStays) {
    // A true change of the second pixel, found one frame too late; the first is lost though it stays.
    SwitchMeter meter;
    const Planes both = plane("PP"), hand = plane("P.");
    meter.add(both, &both, 0);
    meter.add(plane(".P"), &hand, 0.1);
    meter.add(plane(".."), &hand, 0.2);
    meter.add(plane(".."), &both, 0.3);
    meter.add(both, &both, 0.5);
    EXPECT_NEAR(meter.all().value_or(-1), 2.0 / 2 / 0.5, 1e-9);
    EXPECT_NEAR(meter.wrong().value_or(-1), 1.0 / 2 / 0.5, 1e-9);
    meter.add(both, nullptr, 0.6);
    EXPECT_FALSE(meter.wrong()) << "a frame without a truth";
}

TEST(Switches, BeginAnewWithAnotherSize) {
    SwitchMeter meter;
    meter.add(plane("P"), nullptr, 0);
    meter.add(plane("."), nullptr, 0.5);
    meter.add(plane("PP"), nullptr, 0.6);
    meter.add(plane(".."), nullptr, 0.8);
    EXPECT_EQ(meter.all(), 0) << "what was before is not known";
    meter.add(plane("P."), nullptr, 0.9);
    EXPECT_NEAR(meter.all().value_or(-1), 0.5 / 0.8, 1e-9) << "the time between both sizes does not count";
}

}  // namespace
}  // namespace matte
