// SPDX-License-Identifier: Apache-2.0
// What is a cut between two frames, and what is not: a lamp, noise, a person who moves.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "inference/core/synthetic_person.h"
#include "inference/matting/resample.h"
#include "inference/matting/scene_cut.h"

namespace matte {
namespace {

constexpr Size kInput{96, 64};

Planes person(std::uint64_t number, double noise = 2) {
    Image image({192, 128}, PixelFormat::bgr8);
    SyntheticPerson({192, 128}, 32, noise).drawFrame(number, image);
    return resampleToPlanes(image.view(), kInput);
}

/// Another room: the picture upside down, and the other way round.
Planes turned(const Planes& picture) {
    Planes result = picture;
    const auto [width, height] = picture.size;
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            std::copy_n(picture.row(height - 1 - y) + std::ptrdiff_t(3) * (width - 1 - x), 3,
                        result.row(y) + std::ptrdiff_t(3) * x);
        }
    }
    return result;
}

/// As by a lamp at the left: light is added up to `gain` times as much, and half of it at the right.
Planes lit(const Planes& picture, float gain) {
    Planes result = picture;
    for (int y = 0; y < picture.size.height; ++y) {
        for (int i = 0; i < 3 * picture.size.width; ++i) {
            const float share = 1 - 0.5F * float(i) / float(3 * picture.size.width);
            float& value = result.row(y)[i];
            const float linear = std::pow(value, 2.2F) * (1 + (gain - 1) * share);
            value = std::min(1.0F, std::pow(linear, 1 / 2.2F));
        }
    }
    return result;
}

bool isCut(const Planes& from, const Planes& to) {
    SceneCut cut;
    EXPECT_FALSE(cut.judge(lumaGrid(from))) << "there is no frame before the first";
    return cut.judge(lumaGrid(to));
}

TEST(SceneCut, IsNoneInASequence) {
    SceneCut cut;
    for (std::uint64_t number = 0; number < 32; ++number)
        EXPECT_FALSE(cut.judge(lumaGrid(person(number, 8)))) << number;
}

TEST(SceneCut, IsNoneWhenALampIsSwitchedOnOrOff) {
    for (const float gain : {1.5F, 3.0F, 6.0F}) {
        EXPECT_FALSE(isCut(person(3), lit(person(4), gain))) << gain;
        EXPECT_FALSE(isCut(lit(person(3), gain), person(4))) << gain;
    }
}

TEST(SceneCut, IsNoneWithoutAnythingToCompare) {
    Planes black(kInput, 3), grey(kInput, 3);
    std::ranges::fill(grey.values, 0.5F);
    EXPECT_FALSE(isCut(black, black));
    EXPECT_FALSE(isCut(black, grey));
    EXPECT_FALSE(isCut(grey, black));
    EXPECT_FALSE(isCut(Planes({2, 2}, 3), Planes({2, 2}, 3))) << "fewer pixels than cells";
}

TEST(SceneCut, IsWhereAnotherSceneFollows) {
    EXPECT_TRUE(isCut(person(3), turned(person(3))));
    EXPECT_TRUE(isCut(turned(person(3)), person(3)));
}

TEST(SceneCut, ComparesEachFrameWithTheOneBefore) {
    SceneCut cut;
    EXPECT_FALSE(cut.judge(lumaGrid(person(1))));
    EXPECT_TRUE(cut.judge(lumaGrid(turned(person(1)))));
    EXPECT_FALSE(cut.judge(lumaGrid(turned(person(2)))));
    EXPECT_TRUE(cut.judge(lumaGrid(person(3))));
}

TEST(SceneCut, TheGridHoldsTheMeanLumaOfItsCells) {
    Planes picture({32, 16}, 3);  // cells of 2 x 1 pixels
    std::fill_n(picture.row(5) + 6, 3, 1.0F);
    const SceneCut::Grid grid = lumaGrid(picture);
    for (int i = 0; i < SceneCut::kCells; ++i) {
        EXPECT_NEAR(double(grid.cells[i]), i == 5 * SceneCut::kSide + 1 ? 2048 : 0, 1) << i;
    }
}

}  // namespace
}  // namespace matte
