// SPDX-License-Identifier: Apache-2.0
// The 3x3 stencil on the CPU: rows across threads, nine multiply-adds a pixel in vectors along the row. Twice four
// bytes a pixel go over the memory bus: that, or the cache that holds the picture, is the limit.
#include <array>

#include "inference/baselines/baselines.h"
#include "inference/core/vector_clones.h"

namespace matte::baselines {
namespace {

/// The pixels of a row that have neighbours on both sides.
MATTE_VECTOR_CLONES void innerRow(const float* const (&rows)[3], const float* filter, float* out, int width) {
    const float *above = rows[0], *here = rows[1], *below = rows[2];
    for (int x = 1; x < width - 1; ++x) {
        out[x] = filter[0] * above[x - 1] + filter[1] * above[x] + filter[2] * above[x + 1] + filter[3] * here[x - 1] +
                 filter[4] * here[x] + filter[5] * here[x + 1] + filter[6] * below[x - 1] + filter[7] * below[x] +
                 filter[8] * below[x + 1];
    }
}

float edgePixel(const float* const (&rows)[3], const float* filter, int x, int width) {
    float sum = 0;
    for (int tap = 0; tap < 9; ++tap) {
        const int column = x + tap % 3 - 1;
        if (column >= 0 && column < width) sum += filter[tap] * rows[tap / 3][column];
    }
    return sum;
}

}  // namespace

std::unique_ptr<Layer> makeStencilCpu(const Filter3x3& filter, const Shape& in) {
    const std::vector<float> zeros(std::size_t(in.width), 0.0F);
    return layerOf([filter, zeros, height = in.height, width = in.width](const float* from, float* to, StreamHandle) {
#pragma omp parallel for schedule(static)
        for (int y = 0; y < height; ++y) {
            const auto row = [&](int i) { return i < 0 || i >= height ? zeros.data() : from + std::size_t(i) * width; };
            const float* const rows[3] = {row(y - 1), row(y), row(y + 1)};
            float* out = to + std::size_t(y) * width;
            innerRow(rows, filter.data(), out, width);
            for (const int x : {0, width - 1}) out[x] = edgePixel(rows, filter.data(), x, width);
        }
    });
}

}  // namespace matte::baselines
