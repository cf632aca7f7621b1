// SPDX-License-Identifier: Apache-2.0
// UNet: the network as a table of convolutions in the order in which they run, built from the shapes of a model file's
// tensors alone, with batch norm folded into each convolution. Both engines walk the same table. Architecture:
// Ronneberger, Fischer, Brox, "U-Net", 2015, with padded 3x3 convolutions. A level of the encoder may instead be a row
// of bottlenecks (Sandler et al., "MobileNetV2", 2018): 1x1 to more channels, depthwise, 1x1 to few, and what came in
// added where nothing changed its shape. Any thread: it is never changed after load().
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "inference/core/image.h"
#include "inference/model/known_answer.h"
#include "inference/model/safetensors.h"

namespace matte {

/// A convolution's weights after folding: [outChannels, inChannels, k, k] with k = 3 (conv3x3), 2 (up2x2), 1 (head1x1,
/// pointwise), or 3 or 5 and one input channel for each output channel (depthwise); and a bias for each output channel.
struct Filter {
    int outChannels = 0, inChannels = 0;
    std::vector<float> weights;
    std::vector<float> bias;
    [[nodiscard]] int side() const;  ///< k
};

/// conv3x3: padding 1, then ReLU. up2x2: transposed, stride 2, no activation. head1x1: one channel, then sigmoid.
/// depthwise: each channel by itself, padding k / 2, then ReLU. pointwise: 1x1, then ReLU, or a tensor added and none.
enum class ConvKind { conv3x3 = 1, up2x2, head1x1, depthwise, pointwise };

/// An activation: [H >> level, W >> level, channels] for a network input of [H, W, 3].
struct Tensor {
    std::string name;
    int channels = 0;
    int level = 0;
};

constexpr int kNoTensor = -1;

/// One row of the table. A second input stands for the skip connection: the filter's input channels are in0's, then
/// in1's, and nothing is ever concatenated.
struct Conv {
    std::string name;
    ConvKind kind = ConvKind::conv3x3;
    int in0 = 0;          ///< index into UNet::tensors()
    int in1 = kNoTensor;  ///< the up-sampled half of a decoder's input
    int out = 0;
    int pooled = kNoTensor;  ///< also written: out after 2x2 max-pooling
    Filter filter;
    int stride = 1;         ///< 2: the stem, a conv3x3, and a depthwise that begins a level without one
    int added = kNoTensor;  ///< pointwise: of the same shape as out
    bool relu = true;       ///< as `kind` says
};

class UNet {
public:
    /// Throws Error(model) when the tensors are not exactly those of a U-Net of 3 to 8 levels, or hold a NaN or an
    /// infinity. Names and shapes are in resources/README.md.
    static UNet load(const Safetensors& file);

    [[nodiscard]] const std::vector<Conv>& layers() const { return layers_; }
    [[nodiscard]] const std::vector<Tensor>& tensors() const { return tensors_; }  ///< [0] is the input
    [[nodiscard]] int levels() const { return levels_; }
    [[nodiscard]] const std::string& name() const { return name_; }

    /// Of a model that says it.
    [[nodiscard]] const std::optional<KnownAnswer>& knownAnswer() const { return knownAnswer_; }

    /// The network's input for a picture of `picture` pixels: the longest side near `longestSide` (0: the model's own),
    /// both sides multiples of 2^(levels-1).
    [[nodiscard]] Size inputSize(Size picture, int longestSide = 0) const;
    /// The same for a photo: its own longest side may be larger, for a photo has more time than a frame.
    [[nodiscard]] Size photoInputSize(Size photo, int longestSide = 0) const;
    /// The longest side to ask `inputSize` for where there is no memory for `input`: half of it, but at least 128
    /// pixels; 0 when that is no less.
    [[nodiscard]] int smallerSide(Size picture, Size input) const;
    /// Input value of channel c (R, G, B) = (sRGB/255 - mean[c]) / deviation[c].
    [[nodiscard]] std::array<float, 3> mean() const { return mean_; }
    [[nodiscard]] std::array<float, 3> deviation() const { return deviation_; }
    /// Floating-point operations of one run at `input` pixels, a multiply-add counted as two.
    [[nodiscard]] double flops(Size input) const;

private:
    std::string name_;
    int levels_ = 0;
    int longestSide_ = 320, photoSide_ = 320;
    std::array<float, 3> mean_{0.485F, 0.456F, 0.406F}, deviation_{0.229F, 0.224F, 0.225F};
    std::optional<KnownAnswer> knownAnswer_;
    std::vector<Tensor> tensors_;
    std::vector<Conv> layers_;
};

}  // namespace matte
