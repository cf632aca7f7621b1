// SPDX-License-Identifier: Apache-2.0
// One value of an operation's output, as code that the CPU and the GPU compile alike: ops.cpp calls these for every
// value in a loop, launchForEach() in a grid of threads. [N, C, H, W] floats. Any thread.
#pragma once

#include <cmath>
#include <cstddef>
#include <variant>

#include "inference/baselines/implementation.h"

#ifdef __CUDACC__
#define MATTE_BOTH __host__ __device__
#else
#define MATTE_BOTH
#endif

namespace matte::baselines {

/// Where a window of kernelHeight x kernelWidth taps stands on its input: zeros around it, steps, and gaps between
/// taps.
struct Window {
    int kernelHeight = 3, kernelWidth = 3;
    int top = 0, left = 0, bottom = 0, right = 0;  ///< padding
    int strideY = 1, strideX = 1, dilationY = 1, dilationX = 1;

    [[nodiscard]] MATTE_BOTH int outHeight(int height) const {
        return (height + top + bottom - (kernelHeight - 1) * dilationY - 1) / strideY + 1;
    }
    [[nodiscard]] MATTE_BOTH int outWidth(int width) const {
        return (width + left + right - (kernelWidth - 1) * dilationX - 1) / strideX + 1;
    }
};

/// The input of an operation with a window, and how to find an output value's taps in it.
struct Windowed {
    const float* in;
    float* out;
    int channels, height, width;  ///< of the input
    Window window;

    /// Calls visit(tap, value) for each tap of output pixel `pixel` that lies on the input plane `plane`.
    template <typename Visit>
    MATTE_BOTH void visitTaps(std::size_t plane, std::size_t pixel, Visit&& visit) const {
        const int outWidth = window.outWidth(width);
        const int y = int(pixel) / outWidth * window.strideY - window.top;
        const int x = int(pixel) % outWidth * window.strideX - window.left;
        for (int ky = 0; ky < window.kernelHeight; ++ky) {
            for (int kx = 0; kx < window.kernelWidth; ++kx) {
                const int row = y + ky * window.dilationY, column = x + kx * window.dilationX;
                if (row < 0 || row >= height || column < 0 || column >= width) continue;
                visit(ky * window.kernelWidth + kx, in[(plane * height + row) * width + column]);
            }
        }
    }
    [[nodiscard]] MATTE_BOTH std::size_t outPixels() const {
        return std::size_t(window.outHeight(height)) * window.outWidth(width);
    }
};

struct ConvAt : Windowed {
    const float *weights, *bias;  ///< [out, in, kernelHeight, kernelWidth], [out]
    int outChannels;

    MATTE_BOTH void operator()(std::size_t i) const {
        const std::size_t pixel = i % outPixels(), o = i / outPixels() % outChannels, n = i / outPixels() / outChannels;
        float sum = bias[o];
        for (int c = 0; c < channels; ++c) {
            const float* weight = weights + (o * channels + c) * window.kernelHeight * window.kernelWidth;
            visitTaps(n * channels + c, pixel, [&](int tap, float value) { sum += weight[tap] * value; });
        }
        out[i] = sum;
    }
};

struct MaxPoolAt : Windowed {
    MATTE_BOTH void operator()(std::size_t i) const {
        float maximum = -INFINITY;
        visitTaps(i / outPixels(), i % outPixels(), [&](int, float value) { maximum = fmaxf(maximum, value); });
        out[i] = maximum;
    }
};

struct AveragePoolAt : Windowed {
    bool countPadding;  ///< whether the zeros around count: PyTorch's default; TensorFlow's is not

    MATTE_BOTH void operator()(std::size_t i) const {
        float sum = 0;
        int inside = 0;
        visitTaps(i / outPixels(), i % outPixels(), [&](int, float value) { sum += value, ++inside; });
        out[i] = sum / float(countPadding ? window.kernelHeight * window.kernelWidth : inside);
    }
};

enum class Activation { relu = 1, leakyRelu, sigmoid, tanh, elu };

struct ActivationAt {
    const float* in;
    float* out;
    Activation kind;
    float slope;  ///< leakyRelu: below zero; elu: its alpha

    MATTE_BOTH void operator()(std::size_t i) const {
        const float x = in[i];
        switch (kind) {
            case Activation::relu: out[i] = fmaxf(x, 0.0F); return;
            case Activation::leakyRelu: out[i] = x > 0 ? x : slope * x; return;
            case Activation::sigmoid: out[i] = 1 / (1 + expf(-x)); return;
            case Activation::tanh: out[i] = tanhf(x); return;
            case Activation::elu: out[i] = x > 0 ? x : slope * expm1f(x); return;
        }
    }
};

/// The largest of `pieces` neighbouring channels.
struct MaxoutAt {
    const float* in;
    float* out;
    int pieces;
    std::size_t pixels;

    MATTE_BOTH void operator()(std::size_t i) const {
        const float* first = in + i / pixels * pieces * pixels + i % pixels;
        float maximum = first[0];
        for (int piece = 1; piece < pieces; ++piece) maximum = fmaxf(maximum, first[piece * pixels]);
        out[i] = maximum;
    }
};

/// weights [out, in] times the whole of a picture's values, channels outermost: no flattening needed.
struct FullyConnectedAt {
    const float *in, *weights, *bias;
    float* out;
    int inputs, outputs;

    MATTE_BOTH void operator()(std::size_t i) const {
        const std::size_t n = i / outputs, o = i % outputs;
        float sum = bias[o];
        for (int k = 0; k < inputs; ++k) sum += weights[o * inputs + k] * in[n * inputs + k];
        out[i] = sum;
    }
};

/// A whole row of `classes` values: e^(x - the largest), so that none overflows, over their sum.
struct SoftmaxAt {
    const float* in;
    float* out;
    int classes;

    MATTE_BOTH void operator()(std::size_t row) const {
        const float* from = in + row * classes;
        float* to = out + row * classes;
        float maximum = from[0], sum = 0;
        for (int c = 1; c < classes; ++c) maximum = fmaxf(maximum, from[c]);
        for (int c = 0; c < classes; ++c) sum += to[c] = expf(from[c] - maximum);
        for (int c = 0; c < classes; ++c) to[c] /= sum;
    }
};

using AnyElement = std::variant<ConvAt, MaxPoolAt, AveragePoolAt, ActivationAt, MaxoutAt, FullyConnectedAt, SoftmaxAt>;
/// On the device, whose memory the element names, for every i below `count`. Throws Error(engine).
void launchForEach(std::size_t count, const AnyElement& element, StreamHandle stream);

}  // namespace matte::baselines
