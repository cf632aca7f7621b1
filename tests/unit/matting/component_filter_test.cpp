// SPDX-License-Identifier: Apache-2.0
// Who stays in a live matte: small regions go, other people go when only the nearest is wanted, and holes are left
// alone.
#include <cmath>

#include <gtest/gtest.h>

#include "inference/core/pixel_math.h"
#include "inference/matting/component_filter.h"

namespace matte {
namespace {

constexpr Size kSize{160, 96};

/// A round part with a soft rim of four pixels.
void addDisc(Planes& matte, float x, float y, float radius) {
    for (int j = 0; j < matte.size.height; ++j) {
        for (int i = 0; i < matte.size.width; ++i) {
            float& alpha = matte.row(j)[i];
            alpha = std::max(alpha, clampUnit(0.5F + (radius - std::hypot(float(i) - x, float(j) - y)) / 4));
        }
    }
}

Planes discs(std::initializer_list<std::array<float, 3>> parts) {
    Planes matte(kSize, 1);
    for (const auto& [x, y, radius] : parts) addDisc(matte, x, y, radius);
    return matte;
}

void expectNear(const Planes& found, const Planes& expected, const char* why) {
    double worst = 0;
    for (std::size_t i = 0; i < found.values.size(); ++i) {
        worst = std::max(worst, std::abs(double(found.values[i]) - expected.values[i]));
    }
    EXPECT_LT(worst, 1e-6) << why;
}

TEST(SmallRegions, GoWithTheirSoftSurroundings) {
    Planes matte = discs({{80, 60, 25}, {20, 20, 3}});
    ComponentFilter().keep(true, false, matte);
    expectNear(matte, discs({{80, 60, 25}}), "the small region is gone, the person as before");
}

TEST(SmallRegions, AreMuchSmallerThanThePerson) {
    const Planes before = discs({{80, 60, 25}, {20, 20, 8}});
    Planes matte = before;
    ComponentFilter().keep(true, false, matte);
    EXPECT_EQ(matte.values, before.values) << "a hand held up apart is no small region";
    EXPECT_TRUE(isSmallRegion(39, 1000, 10000));
    EXPECT_FALSE(isSmallRegion(41, 1000, 10000)) << "beside the largest part";
    EXPECT_FALSE(isSmallRegion(150, 10000, 10000)) << "beside the frame";
    EXPECT_TRUE(isSmallRegion(19, 19, 10000)) << "where nobody else is";
    EXPECT_FALSE(isSmallRegion(21, 21, 10000)) << "somebody far away";
}

TEST(SmallRegions, AMatteWithoutThemStaysBitForBit) {
    const Planes before = discs({{80, 60, 25}});
    Planes matte = before;
    ComponentFilter().keep(true, true, matte);
    EXPECT_EQ(matte.values, before.values);
}

TEST(SmallRegions, AHoleIsLeft) {
    Planes matte = discs({{80, 60, 25}});
    matte.row(60)[80] = matte.row(60)[81] = 0;
    const Planes before = matte;
    ComponentFilter().keep(true, false, matte);
    EXPECT_EQ(matte.values, before.values);
}

TEST(SmallRegions, GoAlsoWhereNobodyIs) {
    Planes matte = discs({{20, 20, 2}});
    ComponentFilter().keep(true, false, matte);
    expectNear(matte, discs({}), "a mistake is not somebody");
    const Planes far = discs({{20, 20, 6}});
    matte = far;
    ComponentFilter().keep(true, false, matte);
    EXPECT_EQ(matte.values, far.values) << "somebody far away stays";
}

TEST(SmallRegions, AnEmptyMatteStaysEmpty) {
    Planes matte(kSize, 1);
    ComponentFilter().keep(true, true, matte);
    for (const float alpha : matte.values) EXPECT_EQ(alpha, 0);
}

TEST(Parts, TouchingAtACornerAreOne) {
    Planes matte(kSize, 1);
    for (int i = 0; i < 60; ++i) matte.row(20 + i)[40 + i] = 1;
    for (int i = 0; i < 60; ++i) matte.row(20 + i)[100 - std::min(i, 59)] = 1;
    const Planes before = matte;
    ComponentFilter().keep(true, true, matte);
    EXPECT_EQ(matte.values, before.values) << "two thin lines that cross are one part";
}

TEST(Nearest, TheOneWhoTakesTheMostRoomStays) {
    Planes matte = discs({{50, 60, 25}, {130, 60, 16}});
    ComponentFilter().keep(true, true, matte);
    expectNear(matte, discs({{50, 60, 25}}), "the larger person alone");
}

TEST(Nearest, TheMiddleAndTheBottomCountMore) {
    Planes matte = discs({{80, 70, 18}, {22, 24, 20}});
    ComponentFilter().keep(true, true, matte);
    expectNear(matte, discs({{80, 70, 18}}), "the one in the lower middle");
    EXPECT_GT(roomOf(80, 95, 160, 96, false), roomOf(80, 10, 160, 96, false));
    EXPECT_GT(roomOf(80, 50, 160, 96, false), roomOf(3, 50, 160, 96, false));
    EXPECT_GT(roomOf(3, 1, 160, 96, false), 0U);
}

TEST(Nearest, TwoAlikeDontTakeTurns) {
    ComponentFilter components;
    for (int frame = 0; frame < 10; ++frame) {
        // Now one is a little larger, now the other.
        const float left = frame % 2 == 0 ? 20.5F : 19.5F, right = frame % 2 == 0 ? 19.5F : 20.5F;
        Planes matte = discs({{40, 60, left}, {120, 60, right}});
        components.keep(true, true, matte);
        EXPECT_EQ(matte.row(60)[40], 1) << "frame " << frame;
        EXPECT_EQ(matte.row(60)[120], 0) << "frame " << frame;
    }
    components.reset();
    Planes matte = discs({{40, 60, 19.5F}, {120, 60, 20.5F}});
    components.keep(true, true, matte);
    EXPECT_EQ(matte.row(60)[120], 1) << "another source begins";
}

TEST(Surroundings, GoWithTheNearerPartWithAFeather) {
    EXPECT_EQ(stayingShare(12, 12, 12), 1) << "nothing goes nearby";
    EXPECT_EQ(stayingShare(12, 0, 12), 0);
    EXPECT_EQ(stayingShare(0, 12, 12), 1);
    EXPECT_FLOAT_EQ(stayingShare(5, 5, 12), 0.5F);
    for (int going = 0; going < 12; ++going) {
        EXPECT_GE(stayingShare(12, float(going) + 1, 12), stayingShare(12, float(going), 12));
    }
}

}  // namespace
}  // namespace matte
