// SPDX-License-Identifier: Apache-2.0
// The scalar oracle: every operation of the network written as its definition, one multiply at a time, in double
// precision sums. Slow and plain on purpose: both engines' kernels are held against it. Activations are [h, w, c] f32.
#pragma once

#include <vector>

#include "inference/model/unet.h"

namespace matte::oracle {

struct Activation {
    int height = 0, width = 0, channels = 0;
    std::vector<float> values;
    Activation() = default;
    Activation(int h, int w, int c) : height(h), width(w), channels(c), values(std::size_t(h) * w * c) {}
    [[nodiscard]] float at(int y, int x, int c) const { return values[(std::size_t(y) * width + x) * channels + c]; }
    float& at(int y, int x, int c) { return values[(std::size_t(y) * width + x) * channels + c]; }
};

/// 3x3, zero padding 1. Weights [out, in, 3, 3].
Activation conv3x3(const Activation& in, const Filter& filter, int stride = 1);
/// Each channel by itself, zero padding k / 2. Weights [channels, 1, k, k].
Activation depthwise(const Activation& in, const Filter& filter, int stride);
/// 1x1. Weights [out, in, 1, 1].
Activation pointwise(const Activation& in, const Filter& filter);
Activation sum(const Activation& a, const Activation& b);
/// y = gamma (x - mean) / sqrt(variance + epsilon) + beta, per channel.
Activation batchNorm(const Activation& in,
                     const std::vector<float>& gamma,
                     const std::vector<float>& beta,
                     const std::vector<float>& mean,
                     const std::vector<float>& variance,
                     double epsilon);
Activation relu(Activation in);
/// 2x2, stride 2; sides are even.
Activation maxPool(const Activation& in);
/// Transposed, 2x2, stride 2. Weights [out, in, 2, 2].
Activation upConv2x2(const Activation& in, const Filter& filter);
/// Channels of `a`, then of `b`.
Activation concat(const Activation& a, const Activation& b);
Activation sigmoid(Activation in);

Activation tanh(Activation in);
/// Channels [first, first + count).
Activation channels(const Activation& in, int first, int count);

/// The states of a network's cells, in their order; empty: zero.
using States = std::vector<Activation>;

/// The whole network; returns every tensor of unet.tensors() in order. `input` is [H, W, 3]. With `round`, weights,
/// input and activations are kept as it makes them, all but alpha and the states: what a format of fewer bits costs by
/// itself. `states`, of the frame before, become this frame's; without it they are zero.
std::vector<Activation> run(const UNet& unet,
                            const Activation& input,
                            float (*round)(float) = nullptr,
                            States* states = nullptr);

/// Uniform noise of -1 to 1, the same for a seed on every machine.
Activation noise(int height, int width, int channels, unsigned seed);
/// Weights of a trained network's size (He et al. 2015) and small biases.
Filter randomFilter(int outChannels, int inChannels, int side, unsigned seed);

/// Sum of squared differences over the sum of squares of `expected`; NaN counts as infinite.
double nmse(const std::vector<float>& expected, const std::vector<float>& actual);

}  // namespace matte::oracle
