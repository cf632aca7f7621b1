// SPDX-License-Identifier: Apache-2.0
// What a network of bottlenecks needs beside the baselines' 3x3 convolutions, for every implementation of the CPU:
// depthwise and pointwise convolutions and the stem, all by one loop, and the addition. As in baseline 2 a row of the
// output is summed at once, in double precision; for the sequential baseline by one thread.
#include <algorithm>
#include <cmath>
#include <vector>

#include <omp.h>

#include "inference/baselines/baselines.h"
#include "inference/core/vector_clones.h"

namespace matte::baselines {
namespace {

/// row[x] += weight image[stride x + shift], for every x at which the image, `width` wide, has a value.
MATTE_VECTOR_CLONES void addTap(double* row, const float* image, float weight, int shift, int stride, int width) {
    const int first = std::max(0, (stride - 1 - shift) / stride);
    const int last = std::min(width / stride, (width - shift + stride - 1) / stride);
    const double factor = double(weight);
    for (int x = first; x < last; ++x) row[x] += factor * double(image[x * stride + shift]);
}

/// The sums of row `r` of the output, those of all images and channels counted.
void sumRow(const Conv& layer, const Shape& shape, const float* in, int r, std::vector<double>& row) {
    const Filter& filter = layer.filter;
    const int height = shape.height / layer.stride, side = filter.side();
    const int y = r % height, o = r / height % filter.outChannels, n = r / height / filter.outChannels;
    const int first = layer.kind == ConvKind::depthwise ? o : 0;
    std::ranges::fill(row, double(filter.bias[std::size_t(o)]));
    for (int c = 0; c < filter.inChannels; ++c) {
        const float* image = in + (std::size_t(n) * shape.channels + first + c) * shape.pixels();
        const float* weight = filter.weights.data() + (std::size_t(o) * filter.inChannels + c) * side * side;
        for (int tap = 0; tap < side * side; ++tap) {
            const int sy = y * layer.stride + tap / side - side / 2;
            if (sy < 0 || sy >= shape.height) continue;
            addTap(row.data(), image + std::size_t(sy) * shape.width, weight[tap], tap % side - side / 2, layer.stride,
                   shape.width);
        }
    }
}

template <bool parallel>
std::unique_ptr<Layer> makeConv(const Conv& layer, const Shape& shape) {
    return layerOf([layer, shape](const float* in, float* out, StreamHandle) {
        const int rows = shape.batch * layer.filter.outChannels * (shape.height / layer.stride);
        const double least = layer.relu ? 0 : -HUGE_VAL;
        std::vector<std::vector<double>> rowOf(std::size_t(omp_get_max_threads()),
                                               std::vector<double>(std::size_t(shape.width / layer.stride)));
#pragma omp parallel if (parallel)
        {
            std::vector<double>& row = rowOf[std::size_t(omp_get_thread_num())];
#pragma omp for schedule(static)
            for (int r = 0; r < rows; ++r) {
                sumRow(layer, shape, in, r, row);
                float* to = out + std::size_t(r) * row.size();
                for (std::size_t x = 0; x < row.size(); ++x) to[x] = float(std::max(row[x], least));
            }
        }
    });
}

template <bool parallel>
std::unique_ptr<Layer> makeAdd(const Shape& shape) {
    return layerOf([count = std::ptrdiff_t(shape.floats())](const float* in, float* out, StreamHandle) {
#pragma omp parallel for schedule(static) if (parallel)
        for (std::ptrdiff_t i = 0; i < count; ++i) out[i] += in[i];
    });
}

}  // namespace

BottleneckLayers sequentialBottlenecks() {
    return {makeConv<false>, makeAdd<false>};
}

BottleneckLayers parallelBottlenecks() {
    return {makeConv<true>, makeAdd<true>};
}

}  // namespace matte::baselines
