// SPDX-License-Identifier: Apache-2.0
// The stencil and the XNOR convolution against their definitions.
#include <cmath>

#include <gtest/gtest.h>

#include "inference/baselines/baselines.h"
#include "inference/baselines/memory.h"
#include "inference/cuda/device/devices.h"
#include "tests/support/pictures/oracle.h"

namespace matte::baselines {
namespace {

const Filter3x3 kFilter{0.5F, -1, 0.25F, 2, -0.125F, 1, -3, 0.75F, 0.1F};
const Shape kShapes[] = {{1, 1, 1, 1}, {1, 1, 2, 3}, {1, 1, 37, 64}, {1, 1, 64, 129}, {1, 1, 5, 1000}};

std::vector<float> noise(const Shape& shape) {
    return oracle::noise(shape.height, shape.width, 1, 9).values;
}

/// sign(I) x sign(W) times the mean of |I| times the mean of |W|, one multiplication at a time.
std::vector<float> xnorDefinition(const std::vector<float>& in, const Shape& padded) {
    std::vector<float> out;
    float scale = 0;
    for (const float weight : kFilter) scale += std::fabs(weight);
    for (int y = 0; y + 2 < padded.height; ++y) {
        for (int x = 0; x + 2 < padded.width; ++x) {
            float sum = 0, signs = 0;
            for (int tap = 0; tap < 9; ++tap) {
                const float value = in[std::size_t((y + tap / 3) * padded.width + x + tap % 3)];
                sum += std::fabs(value);
                signs += (value > 0 ? 1.0F : -1.0F) * (kFilter[std::size_t(tap)] > 0 ? 1.0F : -1.0F);
            }
            out.push_back(signs * (sum / 9) * (scale / 9));
        }
    }
    return out;
}

void expectXnor(std::unique_ptr<Layer> (*make)(const Filter3x3&, const Shape&), Where where) {
    for (const Shape& shape : kShapes) {
        const Shape padded{1, 1, shape.height + 2, shape.width + 2};
        auto in = noise(padded);
        in[0] = 0;  // counts as below zero
        const auto expected = xnorDefinition(in, padded);
        EXPECT_EQ(runLayer(*make(kFilter, padded), where, in, expected.size()), expected) << shape.width;
    }
}

void expectStencil(std::unique_ptr<Layer> (*make)(const Filter3x3&, const Shape&), Where where) {
    for (const Shape& shape : kShapes) {
        const auto in = noise(shape);
        const Block block{{1, 1, {kFilter.begin(), kFilter.end()}, {0}}, {}, false};
        const auto expected = runLayer(*makeSequential(block, shape), Where::cpu, in, in.size());
        EXPECT_LE(oracle::nmse(expected, runLayer(*make(kFilter, shape), where, in, in.size())), 1e-12) << shape.width;
    }
}

TEST(Xnor, CpuEqualsItsDefinition) {
    expectXnor(makeXnorCpu, Where::cpu);
}

TEST(Stencil, CpuIsTheConvolution) {
    expectStencil(makeStencilCpu, Where::cpu);
}

TEST(Xnor, GpuEqualsItsDefinition) {
    if (const std::string why = queryCuda().unavailable; !why.empty()) GTEST_SKIP() << why;
    expectXnor(makeXnorGpu, Where::gpu);
}

TEST(Stencil, GpuIsTheConvolution) {
    if (const std::string why = queryCuda().unavailable; !why.empty()) GTEST_SKIP() << why;
    expectStencil(makeStencilGpu, Where::gpu);
    expectStencil(makeStencilColumns, Where::gpu);
}

}  // namespace
}  // namespace matte::baselines
