// SPDX-License-Identifier: Apache-2.0
// The operations of convolutional networks beyond what Matte's own network needs: any window, both frameworks' rules of
// padding and orders of values, pooling, activations, and the layers of a classifier. Values in, values out, on the
// device asked for; throw Error(usage) where shapes don't fit, Error(engine) where there is no GPU. Any thread.
//
//     const Tensor out = conv2d(in, filter, windowFor(Padding::same, in.shape, 5, 5, 2, 1));
#pragma once

#include "inference/baselines/ops/elements.h"

namespace matte::baselines {

struct Tensor {
    Shape shape;
    std::vector<float> values;  ///< [N, C, H, W] unless a function says otherwise
};

/// TensorFlow's rules. valid: no padding, windows that don't fit are left out. same: ceil(size / stride) outputs; an
/// odd padding has its larger half behind.
enum class Padding { valid = 1, same };
Window windowFor(Padding padding, const Shape& in, int kernelHeight, int kernelWidth, int stride, int dilation);

/// A window over weights [out, in, kernelHeight, kernelWidth].
struct WindowFilter {
    int outChannels = 0;
    std::vector<float> weights, bias;
};
Tensor conv2d(const Tensor& in, const WindowFilter& filter, const Window& window, Where where = Where::cpu);
Tensor maxPool2d(const Tensor& in, const Window& window, Where where = Where::cpu);
Tensor averagePool2d(const Tensor& in, const Window& window, bool countPadding, Where where = Where::cpu);
/// [N, C, 1, 1]
Tensor globalAveragePool(const Tensor& in, Where where = Where::cpu);
/// `slope`: leakyRelu, 0.1 in the course; elu's alpha.
Tensor activate(const Tensor& in, Activation kind, float slope = 0.1F, Where where = Where::cpu);
/// Channel c is the largest of `in`'s channels pieces c … pieces c + pieces - 1.
Tensor maxout(const Tensor& in, int pieces, Where where = Where::cpu);
/// weights [outputs, C H W]; the result is [N, outputs, 1, 1].
Tensor fullyConnected(const Tensor& in,
                      const std::vector<float>& weights,
                      const std::vector<float>& bias,
                      Where where = Where::cpu);
/// Over the channels of [N, C, 1, 1].
Tensor softmax(const Tensor& in, Where where = Where::cpu);

/// PyTorch's order to TensorFlow's [N, H, W, C], and back; `shape` says the sizes and not the order.
Tensor toNhwc(const Tensor& nchw);
Tensor toNchw(const Tensor& nhwc);

}  // namespace matte::baselines
