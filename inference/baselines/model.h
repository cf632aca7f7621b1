// SPDX-License-Identifier: Apache-2.0
// Model: the network with batch norm not yet folded into the convolutions, so that the early baselines can run it as a
// layer of its own. Immutable; any thread.
//
//     const Model model = Model::load(Safetensors::read(path));
#pragma once

#include <optional>
#include <vector>

#include "inference/model/unet.h"

namespace matte::baselines {

/// [N, C, H, W] floats, as PyTorch keeps them.
struct Shape {
    int batch = 1, channels = 0, height = 0, width = 0;
    [[nodiscard]] std::size_t pixels() const { return std::size_t(height) * width; }
    [[nodiscard]] std::size_t floats() const { return std::size_t(batch) * channels * pixels(); }
};

/// y = gamma (x - mean) / sqrt(variance + epsilon) + beta, each [channels].
struct BatchNorm {
    std::vector<float> gamma, beta, mean, variance;
    float epsilon = 1e-5F;
};

/// A 3x3 convolution of stride 1 as it was trained, and what follows it.
struct Block {
    Filter filter;
    std::optional<BatchNorm> norm;
    bool relu = false;
};

/// The block's filter with its batch norm multiplied in (in double precision): w' = w s, b' = beta + (b - mean) s with
/// s = gamma / sqrt(variance + epsilon).
Filter folded(const Block& block);

/// Whether an implementation runs the layer by its own code. The other layers run by code that all implementations of a
/// device share.
inline bool isBlock(const Conv& layer) {
    return layer.kind == ConvKind::conv3x3 && layer.stride == 1;
}

struct Model {
    UNet unet;
    std::vector<Block> blocks;  ///< one for each of unet.layers(); where not isBlock(), the folded filter alone

    /// Throws Error(model) for what UNet::load() refuses.
    static Model load(const Safetensors& file);
    /// A U-Net with widths[i] channels at level i, weights of variance 2 / fan-in (He et al. 2015) and batch norm near
    /// the identity: the same for a seed on every machine.
    static Model random(const std::vector<int>& widths, unsigned seed);
};

}  // namespace matte::baselines
