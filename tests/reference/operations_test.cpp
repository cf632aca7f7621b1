// SPDX-License-Identifier: Apache-2.0
// The oracle's own operations against numbers worked out by hand, and against each other. What stands here is the
// definition that both engines follow.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "tests/support/pictures/oracle.h"

namespace matte::oracle {
namespace {

Activation ramp(int height, int width, int channels) {
    Activation out(height, width, channels);
    for (std::size_t i = 0; i < out.values.size(); ++i) out.values[i] = float(i);
    return out;
}

TEST(Conv3x3, SumsTheNeighboursWithZerosOutside) {
    const Filter ones{1, 1, std::vector<float>(9, 1.0F), {0.5F}};
    const Activation out = conv3x3(ramp(3, 3, 1), ones);
    EXPECT_FLOAT_EQ(out.at(1, 1, 0), 36.5F);                 // 0 + 1 + … + 8
    EXPECT_FLOAT_EQ(out.at(0, 0, 0), 0 + 1 + 3 + 4 + 0.5F);  // a corner sees four
}

TEST(Conv3x3, TakesWeightsAsOutInRowColumn) {
    Filter shift{2, 2, std::vector<float>(2 * 2 * 9, 0.0F), {0, 0}};
    shift.weights[(0 * 2 + 1) * 9 + 5] = 1;  // output 0 = input 1 of the pixel to the right
    shift.weights[(1 * 2 + 0) * 9 + 1] = 2;  // output 1 = twice input 0 of the pixel above
    const Activation in = ramp(2, 3, 2), out = conv3x3(in, shift);
    EXPECT_EQ(out.at(1, 0, 0), in.at(1, 1, 1));
    EXPECT_EQ(out.at(1, 0, 1), 2 * in.at(0, 0, 0));
    EXPECT_EQ(out.at(0, 2, 0), 0);
}

TEST(Conv3x3, WithAStrideOfTwoKeepsTheEvenPixels) {
    const Filter filter = randomFilter(3, 2, 3, 4);
    const Activation in = noise(6, 4, 2, 3), all = conv3x3(in, filter), kept = conv3x3(in, filter, 2);
    ASSERT_EQ(kept.height, 3);
    ASSERT_EQ(kept.width, 2);
    EXPECT_EQ(kept.at(2, 1, 1), all.at(4, 2, 1));
}

TEST(Depthwise, IsAConvolutionOfEachChannelByItself) {
    const Activation in = noise(6, 5, 2, 5);
    const Filter each = randomFilter(2, 1, 3, 6);
    Filter both{2, 2, std::vector<float>(36, 0.0F), each.bias};
    std::copy_n(each.weights.begin(), 9, both.weights.begin());
    std::copy_n(each.weights.begin() + 9, 9, both.weights.begin() + 27);
    EXPECT_EQ(depthwise(in, each, 1).values, conv3x3(in, both).values);
}

TEST(Depthwise, OfFiveWithAStrideOfTwoReachesTwoPixelsToEachSide) {
    const Filter ones{1, 1, std::vector<float>(25, 1.0F), {0}};
    Activation in(4, 4, 1);
    std::ranges::fill(in.values, 1.0F);
    const Activation out = depthwise(in, ones, 2);
    EXPECT_EQ(out.values, (std::vector<float>{9, 12, 12, 16}));  // of the 25, those in the picture
}

TEST(BatchNorm, NormalisesThenScalesAndShifts) {
    Activation in(1, 1, 2);
    in.values = {3, -1};
    const Activation out = batchNorm(in, {2, 1}, {10, 0.5F}, {1, -1}, {4, 1}, 0);
    EXPECT_FLOAT_EQ(out.values[0], 2 * (3 - 1) / 2.0F + 10);
    EXPECT_FLOAT_EQ(out.values[1], 0.5F);
}

TEST(BatchNorm, FoldedIntoTheFilterGivesTheSame) {
    const Activation in = noise(5, 6, 3, 1);
    const Filter filter = randomFilter(4, 3, 3, 2);
    const std::vector<float> gamma{1, 2, 0.5F, 1.5F}, beta{0, 1, -1, 2}, mean{0.1F, 0.2F, -0.3F, 0},
        variance{1, 2, 0.5F, 3};
    Filter folded = filter;
    for (std::size_t o = 0; o < 4; ++o) {
        const double scale = gamma[o] / std::sqrt(double(variance[o]) + 1e-5);
        for (std::size_t i = o * 27; i < (o + 1) * 27; ++i) folded.weights[i] = float(folded.weights[i] * scale);
        folded.bias[o] = float(beta[o] + (double(folded.bias[o]) - mean[o]) * scale);
    }
    const Activation separate = batchNorm(conv3x3(in, filter), gamma, beta, mean, variance, 1e-5);
    EXPECT_LE(nmse(separate.values, conv3x3(in, folded).values), 1e-12);
}

TEST(Relu, KeepsWhatIsPositive) {
    Activation in(1, 1, 3);
    in.values = {-2, 0, 3};
    EXPECT_EQ(relu(in).values, (std::vector<float>{0, 0, 3}));
}

TEST(MaxPool, TakesTheLargestOfFour) {
    const Activation out = maxPool(ramp(2, 4, 1));
    EXPECT_EQ(out.values, (std::vector<float>{5, 7}));
}

TEST(UpConv, WritesFourPixelsForOne) {
    Filter filter{1, 1, {1, 2, 3, 4}, {0.5F}};
    Activation in(1, 2, 1);
    in.values = {1, 10};
    const Activation out = upConv2x2(in, filter);
    EXPECT_EQ(out.values, (std::vector<float>{1.5F, 2.5F, 10.5F, 20.5F, 3.5F, 4.5F, 30.5F, 40.5F}));
}

TEST(Concat, PutsTheFirstsChannelsFirst) {
    Activation a(1, 1, 2), b(1, 1, 1);
    a.values = {1, 2};
    b.values = {3};
    EXPECT_EQ(concat(a, b).values, (std::vector<float>{1, 2, 3}));
}

TEST(Concat, IsTheSumOfTwoConvolutions) {
    const Activation a = noise(4, 4, 3, 1), b = noise(4, 4, 2, 2);
    const Filter whole = randomFilter(4, 5, 3, 3);
    Filter first{4, 3, {}, whole.bias}, second{4, 2, {}, std::vector<float>(4, 0.0F)};
    for (int o = 0; o < 4; ++o) {
        const auto row = whole.weights.begin() + o * 45;
        first.weights.insert(first.weights.end(), row, row + 27);
        second.weights.insert(second.weights.end(), row + 27, row + 45);
    }
    Activation sum = conv3x3(a, first);
    const Activation rest = conv3x3(b, second);
    for (std::size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += rest.values[i];
    EXPECT_LE(nmse(conv3x3(concat(a, b), whole).values, sum.values), 1e-12);
}

TEST(Head, IsAWeightedSumOfChannels) {
    Activation in(1, 1, 3);
    in.values = {1, 2, 3};
    EXPECT_FLOAT_EQ(pointwise(in, {1, 3, {1, 10, 100}, {0.25F}}).values[0], 321.25F);
}

TEST(Sigmoid, IsAHalfAtZeroAndSymmetric) {
    Activation in(1, 1, 3);
    in.values = {0, 2, -2};
    const auto out = sigmoid(in).values;
    EXPECT_FLOAT_EQ(out[0], 0.5F);
    EXPECT_FLOAT_EQ(out[1], 0.880797F);
    EXPECT_FLOAT_EQ(out[1] + out[2], 1.0F);
}

TEST(Nmse, IsInfiniteForANaN) {
    EXPECT_TRUE(std::isinf(nmse({1, 2}, {1, NAN})));
}

}  // namespace
}  // namespace matte::oracle
