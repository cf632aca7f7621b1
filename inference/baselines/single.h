// SPDX-License-Identifier: Apache-2.0
// Implementations for a picture of one channel and one 3x3 filter, as in the course's second half: the stencil, and the
// XNOR convolution. Any thread; each layer made belongs to one thread at a time.
#pragma once

#include <array>

#include "inference/baselines/baselines.h"

namespace matte::baselines {

using Filter3x3 = std::array<float, 9>;  ///< row by row

/// `in` {1, 1, H, W}, zeros outside; the output has the same size.
std::unique_ptr<Layer> makeStencilCpu(const Filter3x3& filter, const Shape& in);
/// One thread a pixel, as in the course.
std::unique_ptr<Layer> makeStencilGpu(const Filter3x3& filter, const Shape& in);
/// One thread eight pixels below each other: each value is read three times instead of nine.
std::unique_ptr<Layer> makeStencilColumns(const Filter3x3& filter, const Shape& in);

/// I * W ~ (sign(I) x sign(W)) K a: the convolution of the signs, times K, the mean of |I| under the filter, times a,
/// the mean of |W| (Rastegari et al., "XNOR-Net", 2016); a value above zero counts as 1 and any other as -1. `in`
/// {1, 1, H + 2, W + 2} has its border with it; the output is H x W. Three steps: signs to bits; K; XNOR, popcount and
/// scale.
std::unique_ptr<Layer> makeXnorCpu(const Filter3x3& filter, const Shape& in);
std::unique_ptr<Layer> makeXnorGpu(const Filter3x3& filter, const Shape& in);

/// The nine signs of a filter, bit 3 ky + kx, and its scale a.
struct SignFilter {
    unsigned bits = 0;
    float scale = 0;
    explicit SignFilter(const Filter3x3& filter) {
        for (unsigned i = 0; i < 9; ++i) {
            bits |= (filter[i] > 0 ? 1U : 0U) << i;
            scale += filter[i] < 0 ? -filter[i] : filter[i];
        }
        scale /= 9;
    }
};

}  // namespace matte::baselines
