// SPDX-License-Identifier: Apache-2.0
// Baseline 2 of the CPU: the same sums, shared out. A thread owns rows of the output; within a row the loop along x is
// the innermost, so that the compiler makes vectors of it. Still double precision: as exact as the definition, and
// quick enough to judge the GPU's largest layers.
#include <algorithm>
#include <cmath>
#include <vector>

#include <omp.h>

#include "inference/baselines/baselines.h"
#include "inference/core/vector_clones.h"

namespace matte::baselines {
namespace {

/// row[x] += weight image[x + shift], for every x at which the image has a value.
MATTE_VECTOR_CLONES void addShifted(double* row, const float* image, float weight, int shift, int width) {
    const int first = std::max(0, -shift), last = std::min(width, width - shift);
    const double factor = double(weight);
    for (int x = first; x < last; ++x) row[x] += factor * double(image[x + shift]);
}

/// Made before a parallel region, out of which nothing may be thrown.
std::vector<std::vector<double>> rowOfEachThread(int width) {
    return {std::size_t(omp_get_max_threads()), std::vector<double>(std::size_t(width))};
}

std::unique_ptr<Layer> makeConv(const Filter& filter, const Shape& shape) {
    return layerOf([filter, shape](const float* in, float* out, StreamHandle) {
        const int rows = shape.batch * filter.outChannels * shape.height;
        auto rowOf = rowOfEachThread(shape.width);
#pragma omp parallel
        {
            std::vector<double>& row = rowOf[std::size_t(omp_get_thread_num())];
#pragma omp for schedule(static)
            for (int r = 0; r < rows; ++r) {
                const int y = r % shape.height, o = r / shape.height % filter.outChannels;
                const int n = r / shape.height / filter.outChannels;
                std::ranges::fill(row, double(filter.bias[std::size_t(o)]));
                for (int c = 0; c < shape.channels; ++c) {
                    const float* image = in + (std::size_t(n) * shape.channels + c) * shape.pixels();
                    const float* weight = filter.weights.data() + (std::size_t(o) * shape.channels + c) * 9;
                    for (int tap = 0; tap < 9; ++tap) {
                        const int sy = y + tap / 3 - 1;
                        if (sy < 0 || sy >= shape.height) continue;
                        addShifted(row.data(), image + std::size_t(sy) * shape.width, weight[tap], tap % 3 - 1,
                                   shape.width);
                    }
                }
                float* to = out + std::size_t(r) * shape.width;
                for (int x = 0; x < shape.width; ++x) to[x] = float(row[std::size_t(x)]);
            }
        }
    });
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

std::unique_ptr<Layer> makeUpConv(const Filter& filter, const Shape& shape) {
    return layerOf([filter, shape](const float* in, float* out, StreamHandle) {
        const int rows = shape.batch * filter.outChannels * shape.height * 2;
        auto evenOf = rowOfEachThread(shape.width), oddOf = evenOf;
#pragma omp parallel
        {
            const auto thread = std::size_t(omp_get_thread_num());
            std::vector<double>&even = evenOf[thread], &odd = oddOf[thread];
#pragma omp for schedule(static)
            for (int r = 0; r < rows; ++r) {
                const int y = r % (2 * shape.height), o = r / (2 * shape.height) % filter.outChannels;
                const int n = r / (2 * shape.height) / filter.outChannels;
                std::ranges::fill(even, double(filter.bias[std::size_t(o)]));
                std::ranges::fill(odd, double(filter.bias[std::size_t(o)]));
                for (int c = 0; c < shape.channels; ++c) {
                    const float* image =
                        in + (std::size_t(n) * shape.channels + c) * shape.pixels() + std::size_t(y / 2) * shape.width;
                    const float* weight = filter.weights.data() + (std::size_t(o) * shape.channels + c) * 4 + y % 2 * 2;
                    addShifted(even.data(), image, weight[0], 0, shape.width);
                    addShifted(odd.data(), image, weight[1], 0, shape.width);
                }
                float* to = out + std::size_t(r) * shape.width * 2;
                for (std::size_t x = 0; x < even.size(); ++x) {
                    to[2 * x] = float(even[x]);
                    to[2 * x + 1] = float(odd[x]);
                }
            }
        }
    });
}

std::unique_ptr<Layer> makeHead(const Filter& filter, const Shape& shape) {
    return layerOf([filter, shape](const float* in, float* out, StreamHandle) {
        auto rowOf = rowOfEachThread(shape.width);
#pragma omp parallel for schedule(static)
        for (int r = 0; r < shape.batch * shape.height; ++r) {
            std::vector<double>& row = rowOf[std::size_t(omp_get_thread_num())];
            std::ranges::fill(row, double(filter.bias[0]));
            const int n = r / shape.height, y = r % shape.height;
            for (int c = 0; c < shape.channels; ++c) {
                const float* image = in + (std::size_t(n) * shape.channels + c) * shape.pixels();
                addShifted(row.data(), image + std::size_t(y) * shape.width, filter.weights[std::size_t(c)], 0,
                           shape.width);
            }
            float* to = out + std::size_t(r) * shape.width;
            for (int x = 0; x < shape.width; ++x) to[x] = float(1 / (1 + std::exp(-row[std::size_t(x)])));
        }
    });
}

}  // namespace

PlainLayers parallelLayers() {
    return {makeConv, makeBatchNorm, makeRelu, makeMaxPool, makeUpConv, makeHead, parallelBottlenecks()};
}

std::unique_ptr<Layer> makeParallel(const Block& block, const Shape& in) {
    return makeSeparate(makeConv(block.filter, in), parallelLayers(), block, in);
}

}  // namespace matte::baselines
