// SPDX-License-Identifier: Apache-2.0
// Baseline 1 of the CPU: the definition. One output value after another, every product added in double precision, the
// kernel's rows and columns that fall outside skipped. What all other implementations are held against.
#include <algorithm>
#include <cmath>

#include "inference/baselines/baselines.h"

namespace matte::baselines {
namespace {

std::unique_ptr<Layer> makeConv(const Filter& filter, const Shape& shape) {
    return layerOf([filter, shape](const float* in, float* out, StreamHandle) {
        for (int n = 0; n < shape.batch; ++n) {
            for (int o = 0; o < filter.outChannels; ++o) {
                for (int y = 0; y < shape.height; ++y) {
                    for (int x = 0; x < shape.width; ++x) {
                        double sum = filter.bias[std::size_t(o)];
                        for (int c = 0; c < shape.channels; ++c) {
                            const float* image = in + (std::size_t(n) * shape.channels + c) * shape.pixels();
                            const float* weight = filter.weights.data() + (std::size_t(o) * shape.channels + c) * 9;
                            for (int ky = 0; ky < 3; ++ky) {
                                const int sy = y + ky - 1;
                                if (sy < 0 || sy >= shape.height) continue;
                                for (int kx = 0; kx < 3; ++kx) {
                                    const int sx = x + kx - 1;
                                    if (sx < 0 || sx >= shape.width) continue;
                                    sum += double(image[std::size_t(sy) * shape.width + sx]) * weight[ky * 3 + kx];
                                }
                            }
                        }
                        *out++ = float(sum);
                    }
                }
            }
        }
    });
}

std::unique_ptr<Layer> makeBatchNorm(const BatchNorm& norm, const Shape& shape) {
    return layerOf([norm, shape](const float* in, float* out, StreamHandle) {
        for (std::size_t i = 0; i < shape.floats(); ++i) {
            const std::size_t c = i / shape.pixels() % std::size_t(shape.channels);
            const double normal =
                (double(in[i]) - norm.mean[c]) / std::sqrt(double(norm.variance[c]) + double(norm.epsilon));
            out[i] = float(norm.gamma[c] * normal + norm.beta[c]);
        }
    });
}

std::unique_ptr<Layer> makeRelu(const Shape& shape) {
    return layerOf([count = shape.floats()](const float* in, float* out, StreamHandle) {
        for (std::size_t i = 0; i < count; ++i) out[i] = in[i] > 0 ? in[i] : 0;
    });
}

std::unique_ptr<Layer> makeMaxPool(const Shape& shape) {
    return layerOf([shape](const float* in, float* out, StreamHandle) {
        for (int plane = 0; plane < shape.batch * shape.channels; ++plane) {
            for (int y = 0; y + 1 < shape.height; y += 2) {
                const float* above = in + plane * shape.pixels() + std::size_t(y) * shape.width;
                const float* below = above + shape.width;
                for (int x = 0; x + 1 < shape.width; x += 2) {
                    *out++ = std::max(std::max(above[x], above[x + 1]), std::max(below[x], below[x + 1]));
                }
            }
        }
    });
}

std::unique_ptr<Layer> makeUpConv(const Filter& filter, const Shape& shape) {
    return layerOf([filter, shape](const float* in, float* out, StreamHandle) {
        for (int n = 0; n < shape.batch; ++n) {
            const float* image = in + std::size_t(n) * shape.channels * shape.pixels();
            for (int o = 0; o < filter.outChannels; ++o) {
                for (int y = 0; y < 2 * shape.height; ++y) {
                    for (int x = 0; x < 2 * shape.width; ++x) {
                        const std::size_t from = std::size_t(y / 2) * shape.width + x / 2;
                        const int tap = y % 2 * 2 + x % 2;
                        double sum = filter.bias[std::size_t(o)];
                        for (int c = 0; c < shape.channels; ++c) {
                            sum += double(image[std::size_t(c) * shape.pixels() + from]) *
                                   filter.weights[(std::size_t(o) * shape.channels + c) * 4 + tap];
                        }
                        *out++ = float(sum);
                    }
                }
            }
        }
    });
}

std::unique_ptr<Layer> makeHead(const Filter& filter, const Shape& shape) {
    return layerOf([filter, shape](const float* in, float* out, StreamHandle) {
        for (int n = 0; n < shape.batch; ++n) {
            const float* image = in + std::size_t(n) * shape.channels * shape.pixels();
            for (std::size_t i = 0; i < shape.pixels(); ++i) {
                double sum = filter.bias[0];
                for (std::size_t c = 0; c < std::size_t(shape.channels); ++c) {
                    sum += double(image[c * shape.pixels() + i]) * filter.weights[c];
                }
                *out++ = float(1 / (1 + std::exp(-sum)));
            }
        }
    });
}

}  // namespace

PlainLayers sequentialLayers() {
    return {makeConv, makeBatchNorm, makeRelu, makeMaxPool, makeUpConv, makeHead, sequentialBottlenecks()};
}

std::unique_ptr<Layer> makeSequential(const Block& block, const Shape& in) {
    return makeSeparate(makeConv(block.filter, in), sequentialLayers(), block, in);
}

}  // namespace matte::baselines
