// SPDX-License-Identifier: Apache-2.0
// UNet: the network as a table of convolutions in execution order, derived from the tensor shapes of a model file, with
// batch norm folded into each convolution. All engines run this table. Architecture: Ronneberger, Fischer, Brox,
// "U-Net", 2015, with padded 3x3 convolutions. An encoder level may instead be a sequence of inverted bottlenecks
// (Sandler et al., "MobileNetV2", 2018): 1x1 expansion, depthwise, 1x1 projection, and a residual connection where
// input and output have the same shape. A decoder level may end in a ConvGRU cell, whose state is kept from frame to
// frame. Any thread: immutable after load().
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
/// pointwise), or 3 or 5 with one input channel per output channel (depthwise); and one bias per output channel.
struct Filter {
    int outChannels = 0, inChannels = 0;
    std::vector<float> weights;
    std::vector<float> bias;
    [[nodiscard]] int side() const;  ///< k
};

/// conv3x3: padding 1, then ReLU. up2x2: transposed, stride 2, no activation. head1x1: one channel, then sigmoid.
/// depthwise: one filter per channel, padding k / 2, then ReLU. pointwise: 1x1, then ReLU, or linear with an optional
/// residual.
enum class ConvKind { conv3x3 = 1, up2x2, head1x1, depthwise, pointwise };

/// An activation: [H >> level, W >> level, channels] for a network input of [H, W, 3].
struct Tensor {
    std::string name;
    int channels = 0;
    int level = 0;
};

constexpr int kNoTensor = -1, kNoCell = -1;

/// One layer. A second input replaces the concatenation of a skip connection: the filter's input channels are those of
/// in0, then those of in1.
struct Conv {
    std::string name;
    ConvKind kind = ConvKind::conv3x3;
    int in0 = 0;          ///< index into UNet::tensors()
    int in1 = kNoTensor;  ///< the upsampled half of a decoder level's input
    int out = 0;
    int pooled = kNoTensor;  ///< second output: out after 2x2 max pooling
    Filter filter;
    int stride = 1;         ///< 2: the stem (conv3x3), and the first depthwise of a level that begins without pooling
    int added = kNoTensor;  ///< pointwise: the residual, of the same shape as out
    bool relu = true;       ///< see ConvKind
    int cell = kNoCell;     ///< of UNet::cells(), whose gates or candidate it computes: conv3x3 without ReLU
};

/// A ConvGRU cell (Ballas et al., "Delving Deeper into Convolutional Networks for Learning Video Representations",
/// 2016), on half of the channels (Lin et al., "Robust High-Resolution Video Matting with Temporal Guidance", 2021)
/// and with a residual connection. With [a, b] = the level's output of C channels, and the state h, C/2 channels, zero
/// before the first frame:
///     [r, z] = sigmoid(gates([b, h]))      c = tanh(candidate([b, r h]))      h' = (1 - z) h + z c
/// The level's output becomes [a, b + h'], and the state h'. Two of the layers are the convolutions; the rest is
/// pixel-wise. Members are indices into UNet::tensors().
struct ConvGru {
    int in = 0;         ///< [a, b]
    int input = 0;      ///< b
    int state = 0;      ///< h, then h'
    int gates = 0;      ///< [r, z]
    int reset = 0;      ///< r h
    int candidate = 0;  ///< c
    int out = 0;        ///< [a, b + h']
};

class UNet {
public:
    /// Throws Error(model) when the tensors are not exactly those of a U-Net of 3 to 8 levels, or contain a NaN or an
    /// infinity. resources/README.md lists names and shapes.
    static UNet load(const Safetensors& file);

    [[nodiscard]] const std::vector<Conv>& layers() const { return layers_; }
    [[nodiscard]] const std::vector<Tensor>& tensors() const { return tensors_; }  ///< [0] is the input
    [[nodiscard]] const std::vector<ConvGru>& cells() const { return cells_; }     ///< in execution order
    [[nodiscard]] bool isRecurrent() const { return !cells_.empty(); }
    /// The cell of one of layers(), which computes its gates or its candidate; null for other layers.
    [[nodiscard]] const ConvGru* cellOf(const Conv& layer) const {
        return layer.cell == kNoCell ? nullptr : &cells_[std::size_t(layer.cell)];
    }
    [[nodiscard]] bool isGates(const Conv& layer) const {
        const ConvGru* cell = cellOf(layer);
        return cell && layer.out == cell->gates;
    }
    [[nodiscard]] int levels() const { return levels_; }
    [[nodiscard]] const std::string& name() const { return name_; }

    /// From the model file, if it has one.
    [[nodiscard]] const std::optional<KnownAnswer>& knownAnswer() const { return knownAnswer_; }

    /// The network's input size for a picture of `picture` pixels: the longest side is about `longestSide` (0: the
    /// model's default), both sides are multiples of 2^(levels-1).
    [[nodiscard]] Size inputSize(Size picture, int longestSide = 0) const;
    /// The same for a photo, for which the model's default may be larger because there is more time.
    [[nodiscard]] Size photoInputSize(Size photo, int longestSide = 0) const;
    /// The `longestSide` to retry with when memory is too small for `input`: half of it, at least 128 pixels; 0 when
    /// the input would not get smaller.
    [[nodiscard]] int smallerSide(Size picture, Size input) const;
    /// Input value of channel c (R, G, B) = (sRGB/255 - mean[c]) / deviation[c].
    [[nodiscard]] std::array<float, 3> mean() const { return mean_; }
    [[nodiscard]] std::array<float, 3> deviation() const { return deviation_; }
    /// Floating-point operations of one run at `input` pixels; a multiply-add counts as two.
    [[nodiscard]] double flops(Size input) const;

private:
    std::string name_;
    int levels_ = 0;
    int longestSide_ = 320, photoSide_ = 320;
    std::array<float, 3> mean_{0.485F, 0.456F, 0.406F}, deviation_{0.229F, 0.224F, 0.225F};
    std::optional<KnownAnswer> knownAnswer_;
    std::vector<Tensor> tensors_;
    std::vector<Conv> layers_;
    std::vector<ConvGru> cells_;
};

}  // namespace matte
