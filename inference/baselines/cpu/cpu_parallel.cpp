// SPDX-License-Identifier: Apache-2.0
// Baseline 2 of the CPU: the same sums, shared among threads. A thread owns rows of the output; within a row the loop
// along x is the innermost, so that the compiler makes vectors of it. Still double precision: as exact as the
// definition, and quick enough to judge the GPU's largest layers. The same loop runs the depthwise and pointwise
// convolutions of bottlenecks for every implementation of the CPU, for the sequential one on one thread.
#include <algorithm>
#include <array>
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
    if (stride == 1) {  // a loop of its own becomes vectors
        for (int x = first; x < last; ++x) row[x] += factor * double(image[x + shift]);
    } else {
        for (int x = first; x < last; ++x) row[x] += factor * double(image[x * stride + shift]);
    }
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

/// Made before a parallel region, out of which nothing may be thrown.
std::vector<std::vector<double>> rowOfEachThread(int width) {
    return {std::size_t(omp_get_max_threads()), std::vector<double>(std::size_t(width))};
}

/// A convolution of any kind; an output value is finish(sum).
template <bool parallel, typename Finish>
std::unique_ptr<Layer> makeRows(const Conv& layer, const Shape& shape, const Finish& finish) {
    return layerOf([layer, shape, finish](const float* in, float* out, StreamHandle) {
        const int rows = shape.batch * layer.filter.outChannels * (shape.height / layer.stride);
        auto rowOf = rowOfEachThread(shape.width / layer.stride);
#pragma omp parallel for schedule(static) if (parallel)
        for (int r = 0; r < rows; ++r) {
            std::vector<double>& row = rowOf[std::size_t(omp_get_thread_num())];
            sumRow(layer, shape, in, r, row);
            std::transform(row.begin(), row.end(), out + std::size_t(r) * row.size(), finish);
        }
    });
}

template <bool parallel>
std::unique_ptr<Layer> makeBottleneckConv(const Conv& layer, const Shape& shape) {
    return makeRows<parallel>(layer, shape,
                              [least = layer.relu ? 0 : -HUGE_VAL](double sum) { return float(std::max(sum, least)); });
}

template <bool parallel>
std::unique_ptr<Layer> makeAdd(const Shape& shape) {
    return layerOf([count = std::ptrdiff_t(shape.floats())](const float* in, float* out, StreamHandle) {
#pragma omp parallel for schedule(static) if (parallel)
        for (std::ptrdiff_t i = 0; i < count; ++i) out[i] += in[i];
    });
}

std::unique_ptr<Layer> makeConv(const Filter& filter, const Shape& shape) {
    return makeRows<true>({.name = {}, .kind = ConvKind::conv3x3, .filter = filter}, shape,
                          [](double sum) { return float(sum); });
}

std::unique_ptr<Layer> makeHead(const Filter& filter, const Shape& shape) {
    return makeRows<true>({.name = {}, .kind = ConvKind::head1x1, .filter = filter}, shape,
                          [](double sum) { return float(1 / (1 + std::exp(-sum))); });
}

std::unique_ptr<Layer> makeBatchNorm(const BatchNorm& norm, const Shape& shape) {
    return layerOf([norm, shape](const float* in, float* out, StreamHandle) {
#pragma omp parallel for schedule(static)
        for (int plane = 0; plane < shape.batch * shape.channels; ++plane) {
            const std::size_t c = std::size_t(plane % shape.channels), begin = std::size_t(plane) * shape.pixels();
            const double scale = norm.gamma[c] / std::sqrt(double(norm.variance[c]) + double(norm.epsilon));
            const double shift = norm.beta[c] - scale * norm.mean[c];
            for (std::size_t i = begin; i < begin + shape.pixels(); ++i) out[i] = float(scale * in[i] + shift);
        }
    });
}

std::unique_ptr<Layer> makeRelu(const Shape& shape) {
    return layerOf([count = std::ptrdiff_t(shape.floats())](const float* in, float* out, StreamHandle) {
#pragma omp parallel for schedule(static)
        for (std::ptrdiff_t i = 0; i < count; ++i) out[i] = in[i] > 0 ? in[i] : 0;
    });
}

std::unique_ptr<Layer> makeMaxPool(const Shape& shape) {
    return layerOf([shape](const float* in, float* out, StreamHandle) {
        const int rows = shape.batch * shape.channels * (shape.height / 2), width = shape.width / 2;
#pragma omp parallel for schedule(static)
        for (int r = 0; r < rows; ++r) {
            const int plane = r / (shape.height / 2), y = r % (shape.height / 2);
            const float* above = in + std::size_t(plane) * shape.pixels() + std::size_t(2 * y) * shape.width;
            const float* below = above + shape.width;
            float* to = out + std::size_t(r) * width;
            for (int x = 0; x < width; ++x) {
                to[x] = std::max(std::max(above[2 * x], above[2 * x + 1]), std::max(below[2 * x], below[2 * x + 1]));
            }
        }
    });
}

/// A pointwise convolution for each of the four places that a pixel becomes.
std::unique_ptr<Layer> makeUpConv(const Filter& filter, const Shape& shape) {
    std::array<Conv, 4> places;
    for (std::size_t place = 0; place < 4; ++place) {
        places[place].kind = ConvKind::pointwise;
        places[place].filter = {filter.outChannels, filter.inChannels, {}, filter.bias};
        for (std::size_t i = place; i < filter.weights.size(); i += 4) {
            places[place].filter.weights.push_back(filter.weights[i]);
        }
    }
    return layerOf([places, shape](const float* in, float* out, StreamHandle) {
        const int height = 2 * shape.height, rows = shape.batch * places[0].filter.outChannels * height;
        auto rowOf = rowOfEachThread(shape.width);
#pragma omp parallel for schedule(static)
        for (int r = 0; r < rows; ++r) {
            std::vector<double>& row = rowOf[std::size_t(omp_get_thread_num())];
            float* to = out + std::size_t(r) * row.size() * 2;
            for (std::size_t side = 0; side < 2; ++side) {
                const int y = r % height;
                sumRow(places[std::size_t(y % 2 * 2) + side], shape, in, r / height * shape.height + y / 2, row);
                for (std::size_t x = 0; x < row.size(); ++x) to[2 * x + side] = float(row[x]);
            }
        }
    });
}

}  // namespace

PlainLayers parallelLayers() {
    return {makeConv,
            makeBatchNorm,
            makeRelu,
            makeMaxPool,
            makeUpConv,
            makeHead,
            {makeBottleneckConv<true>, makeAdd<true>}};
}

BottleneckLayers sequentialBottlenecks() {
    return {makeBottleneckConv<false>, makeAdd<false>};
}

std::unique_ptr<Layer> makeParallel(const Block& block, const Shape& in) {
    return makeSeparate(makeConv(block.filter, in), parallelLayers(), block, in);
}

}  // namespace matte::baselines
