// SPDX-License-Identifier: Apache-2.0
// At which input a baseline runs the live network: its own where that is fast enough, otherwise the largest
// of the same shape that is.
#include <gtest/gtest.h>

#include "inference/baselines/live/implementation_switch.h"
#include "tests/support/files/model_file.h"

namespace matte::baselines {
namespace {

constexpr Size kWide{1920, 1080};

/// Six levels: sides are multiples of 32, and 1920x1080 becomes 384x224.
UNet sixLevels() {
    return UNet::load(
        Safetensors::parse(test::encodeSafetensors(test::randomUNet({2, 2, 2, 2, 2, 2}, 1)), "six levels"));
}

/// A run at `input` of an implementation that takes `msAPixel` for each of its pixels.
TimedRun runOf(Size input, double msAPixel) {
    return {input, msAPixel * double(input.pixels())};
}

TEST(InputChoice, AFastImplementationKeepsTheNetworksOwnInput) {
    const UNet unet = sixLevels();
    const InputChoice choice(unet, kWide, 384);
    ASSERT_EQ(choice.own(), (Size{384, 224}));
    EXPECT_EQ(choice.within(500, runOf(choice.smallest(), 500.0 / (384 * 224))), choice.own());
    EXPECT_EQ(choice.longestSide(choice.own()), 384) << "the engine's option as it was";
    const InputChoice models(unet, kWide, 0);
    EXPECT_EQ(models.longestSide(models.own()), 0) << "that is, the model's own";
}

TEST(InputChoice, ASlowOneGetsTheLargestInputThatItIsFastEnoughFor) {
    const UNet unet = sixLevels();
    const InputChoice choice(unet, kWide, 384);
    const TimedRun sequential = runOf(choice.smallest(), 0.1);  // 8.6 s at the network's own input
    EXPECT_EQ(choice.within(500, sequential), (Size{64, 32}));
    EXPECT_EQ(choice.within(0.1 * 96 * 64, sequential), (Size{96, 64})) << "what takes just as long as it may";
    EXPECT_EQ(choice.within(2000, sequential), (Size{192, 96}));
    for (const double ms : {300.0, 1000.0, 3000.0, 8000.0}) {
        const Size input = choice.within(ms, sequential);
        EXPECT_LE(0.1 * double(input.pixels()), ms);
        const Size larger = unet.inputSize(kWide, input.longest() + 32);
        EXPECT_GT(0.1 * double(larger.pixels()), ms) << "the next one would not do";
    }
}

TEST(InputChoice, EveryInputHasThePicturesShapeAndSidesThatTheNetworkTakes) {
    for (const int levels : {3, 4, 5, 6, 7, 8}) {
        const UNet unet = UNet::load(Safetensors::parse(
            test::encodeSafetensors(test::randomUNet(std::vector<int>(std::size_t(levels), 2), 1)), "some levels"));
        for (const Size picture : {kWide, Size{1080, 1920}, Size{640, 480}, Size{1, 1}, Size{10000, 1}}) {
            const InputChoice choice(unet, picture, 512);
            for (const double ms : {0.0, 10.0, 100.0, 1000.0, 10000.0, 1e9}) {
                const Size input = choice.within(ms, runOf(choice.smallest(), 0.05));
                EXPECT_EQ(unet.inputSize(picture, choice.longestSide(input)), input)
                    << "what the engine makes of the option, " << input.width << "x" << input.height;
            }
        }
    }
}

TEST(InputChoice, WhereNothingIsFastEnoughItIsTheSmallest) {
    const UNet unet = sixLevels();
    const InputChoice choice(unet, kWide, 384);
    EXPECT_EQ(choice.smallest(), (Size{32, 32}));
    EXPECT_EQ(choice.within(500, runOf(choice.smallest(), 10)), choice.smallest());
    EXPECT_EQ(choice.within(-20, runOf(choice.smallest(), 0.1)), choice.smallest()) << "no time is left";
    const InputChoice tiny(unet, kWide, 20);
    EXPECT_EQ(tiny.smallest(), tiny.own()) << "there is no smaller one";
}

TEST(InputChoice, ARunIsGivenUpAsSoonAsItCantEndInTime) {
    EXPECT_TRUE(isHopeless(40, 0.05, 150)) << "0.8 s in all";
    EXPECT_FALSE(isHopeless(40, 0.2, 150)) << "0.2 s: layers differ in speed, and it may end in time yet";
    EXPECT_FALSE(isHopeless(40, 0.9, 150));
    EXPECT_FALSE(isHopeless(10, 0.01, 150)) << "too early to tell: threads start, memory is touched";
    EXPECT_FALSE(isHopeless(149, 0, 150)) << "an implementation that can't tell";
    EXPECT_TRUE(isHopeless(150, 0, 150)) << "the time is over";
    EXPECT_TRUE(isHopeless(150, 1, 150));
    EXPECT_TRUE(isHopeless(0, 0, -3)) << "it was over before the run began";
}

TEST(InputChoice, SaysPlainlyWhyAnInputIsSmaller) {
    const Size own{384, 224};
    EXPECT_EQ(whySmaller({{64, 32}, 262}, own),
              "Runs at 64x32, so that the network takes under a second; hardly anybody is found there. At its own "
              "384x224 it would take 11 s.");
    EXPECT_EQ(whySmaller({{128, 64}, 857}, own),
              "Runs at 128x64, so that the network takes under a second; people are found less well there. At its own "
              "384x224 it would take 9.0 s.");
    EXPECT_EQ(whySmaller({{32, 32}, 2300}, own),
              "Runs at 32x32, where the network still takes 2.3 s; hardly anybody is found there. At its own 384x224 "
              "it would take 193 s.");
    EXPECT_EQ(whySmaller({own, 240}, own), "");
    EXPECT_EQ(whySmaller({own, 2400}, own), "") << "nothing is smaller than it should be";
}

}  // namespace
}  // namespace matte::baselines
