// SPDX-License-Identifier: Apache-2.0
// Light and colours of high dynamic range as usual screens show them, held against the signal levels that ITU-R BT.2408
// names and against the formulas of BT.2100 and BT.2087.
#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "inference/media/video/tone_map.h"

namespace matte {
namespace {

using Transfer = ToneMap::Transfer;

std::array<int, 3> mapped(Transfer transfer, const std::array<double, 3>& bgr) {
    std::array<std::uint16_t, 3> from{};
    for (std::size_t c = 0; c < 3; ++c) from[c] = std::uint16_t(std::lround(bgr[c] * ToneMap::kWhole));
    std::array<std::uint8_t, 3> to{};
    ToneMap({transfer}).apply(from.data(), to.data(), 1);
    return {to[0], to[1], to[2]};
}
int grey(Transfer transfer, double value) {
    const auto pixel = mapped(transfer, {value, value, value});
    EXPECT_NEAR(pixel[0], pixel[1], 1);
    EXPECT_NEAR(pixel[2], pixel[1], 1);
    return pixel[1];
}

double srgb(double light) {
    return 255 * (light <= 0.0031308 ? 12.92 * light : 1.055 * std::pow(light, 1 / 2.4) - 0.055);
}
double pq(double candelas) {
    const double power = std::pow(candelas / 10000, 2610.0 / 16384);
    return std::pow((3424.0 / 4096 + 2413.0 / 128 * power) / (1 + 2392.0 / 128 * power), 2523.0 / 32);
}

// BT.2408, table 1: a grey card has 26 cd/m2 and 38 % of either signal, white paper 203 cd/m2, 75 % of HLG and 58 % of
// PQ.
TEST(ToneMap, ShowsAGreyCardAsItIs) {
    for (const Transfer transfer : {Transfer::hlg, Transfer::pq}) {
        EXPECT_NEAR(grey(transfer, 0.38), srgb(26.0 / 203), 4);
        EXPECT_EQ(grey(transfer, 0), 0);
        EXPECT_EQ(grey(transfer, 1), 255);
    }
    for (const double candelas : {1.0, 5.0, 20.0, 50.0, 80.0}) {
        EXPECT_NEAR(grey(Transfer::pq, pq(candelas)), srgb(candelas / 203), 1.5) << candelas;
    }
}

TEST(ToneMap, LeavesRoomAboveWhitePaper) {
    const int paper = grey(Transfer::hlg, 0.75);
    EXPECT_NEAR(paper, grey(Transfer::pq, 0.58), 3);
    EXPECT_GT(paper, 205);
    EXPECT_LT(paper, 240);
    for (const Transfer transfer : {Transfer::hlg, Transfer::pq}) {
        int before = -1;
        for (int step = 0; step <= 100; ++step) {
            const int now = grey(transfer, step / 100.0);
            EXPECT_GE(now, before) << step;
            before = now;
        }
    }
}

// A red of BT.709, in BT.2020's primaries by the matrix of BT.2087.
TEST(ToneMap, KeepsColorsThatSrgbHas) {
    constexpr double kTo2020[3][3] = {{0.6274, 0.3293, 0.0433}, {0.0691, 0.9195, 0.0114}, {0.0164, 0.0880, 0.8956}};
    const std::array<std::array<double, 3>, 4> colors{{{0.2, 0, 0}, {0, 0.2, 0}, {0, 0, 0.2}, {0.3, 0.1, 0.05}}};
    for (const auto& rgb : colors) {
        std::array<double, 3> bgr{};
        for (std::size_t row = 0; row < 3; ++row) {
            double light = 0;
            for (std::size_t c = 0; c < 3; ++c) light += kTo2020[row][c] * rgb[c];
            bgr[2 - row] = pq(203 * light);
        }
        const auto shown = mapped(Transfer::pq, bgr);
        for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(shown[2 - c], srgb(rgb[c]), 4) << c;
    }
}

TEST(ToneMap, CutsColorsThatSrgbLacks) {
    const auto green = mapped(Transfer::pq, {0, pq(100), 0});
    EXPECT_EQ(green[0], 0);
    EXPECT_EQ(green[2], 0);
    EXPECT_GT(green[1], 150);
}

}  // namespace
}  // namespace matte
