// SPDX-License-Identifier: Apache-2.0
#include "inference/baselines/ops/ops.h"

#include <algorithm>

#include "inference/baselines/memory.h"
#include "inference/core/error.h"

namespace matte::baselines {
namespace {

/// The device's copies of what one operation reads and writes.
class Call {
public:
    explicit Call(Where where) : where_(where), memory_(makeMemory(where)) {}

    const float* put(const std::vector<float>& values) {
        float* place = memory_->allocate(values.size());
        memory_->upload(place, values.data(), values.size());
        return place;
    }
    float* room(const Shape& shape) { return result_ = memory_->allocate(shape.floats()); }
    template <typename Element>
    Tensor run(const Shape& shape, std::size_t count, const Element& element) {
        if (where_ == Where::gpu) {
            launchForEach(count, element, memory_->stream());
        } else {
#pragma omp parallel for schedule(static)
            for (std::ptrdiff_t i = 0; i < std::ptrdiff_t(count); ++i) element(std::size_t(i));
        }
        Tensor out{shape, std::vector<float>(shape.floats())};
        memory_->download(out.values.data(), result_, out.values.size());
        return out;
    }

private:
    Where where_;
    std::unique_ptr<Memory> memory_;
    float* result_ = nullptr;
};

[[noreturn]] void refuse(const std::string& what) {
    throw Error(ErrorCategory::usage, what + ": check the shapes.");
}

Shape windowed(const Shape& in, int channels, const Window& window) {
    const bool sane = window.kernelHeight > 0 && window.kernelWidth > 0 && window.strideY > 0 && window.strideX > 0 &&
                      window.dilationY > 0 && window.dilationX > 0;
    if (!sane) refuse("A window has a side, a stride and a dilation of at least 1");
    const Shape out{in.batch, channels, window.outHeight(in.height), window.outWidth(in.width)};
    if (out.height < 1 || out.width < 1) refuse("The window is larger than the picture with its padding");
    return out;
}

Windowed windowOn(Call& call, const Tensor& in, const Window& window, const Shape& out) {
    return {call.put(in.values), call.room(out), in.shape.channels, in.shape.height, in.shape.width, window};
}

/// Calls visit() with the places of each value in both orders.
template <typename Visit>
void visitOrders(const Shape& shape, const Visit& visit) {
    const std::size_t channels = std::size_t(shape.channels), pixels = shape.pixels();
    for (std::size_t i = 0; i < shape.floats(); ++i) {
        const std::size_t c = i % channels, pixel = i / channels % pixels, n = i / channels / pixels;
        visit((n * channels + c) * pixels + pixel, i);
    }
}

}  // namespace

Window windowFor(Padding padding, const Shape& in, int kernelHeight, int kernelWidth, int stride, int dilation) {
    Window window{kernelHeight, kernelWidth, 0, 0, 0, 0, stride, stride, dilation, dilation};
    if (padding == Padding::valid) return window;
    const auto total = [&](int size, int kernel) {
        const int outputs = (size + stride - 1) / stride;
        return std::max(0, (outputs - 1) * stride + (kernel - 1) * dilation + 1 - size);
    };
    const int vertical = total(in.height, kernelHeight), horizontal = total(in.width, kernelWidth);
    window.top = vertical / 2;
    window.bottom = vertical - window.top;
    window.left = horizontal / 2;
    window.right = horizontal - window.left;
    return window;
}

Tensor conv2d(const Tensor& in, const WindowFilter& filter, const Window& window, Where where) {
    const Shape out = windowed(in.shape, filter.outChannels, window);
    const std::size_t taps = std::size_t(window.kernelHeight) * window.kernelWidth;
    if (filter.weights.size() != std::size_t(filter.outChannels) * in.shape.channels * taps ||
        filter.bias.size() != std::size_t(filter.outChannels)) {
        refuse("The filter does not fit the picture's channels");
    }
    Call call(where);
    const ConvAt element{windowOn(call, in, window, out), call.put(filter.weights), call.put(filter.bias),
                         filter.outChannels};
    return call.run(out, out.floats(), element);
}

Tensor maxPool2d(const Tensor& in, const Window& window, Where where) {
    const Shape out = windowed(in.shape, in.shape.channels, window);
    Call call(where);
    const MaxPoolAt element{windowOn(call, in, window, out)};
    return call.run(out, out.floats(), element);
}

Tensor averagePool2d(const Tensor& in, const Window& window, bool countPadding, Where where) {
    const Shape out = windowed(in.shape, in.shape.channels, window);
    Call call(where);
    const AveragePoolAt element{windowOn(call, in, window, out), countPadding};
    return call.run(out, out.floats(), element);
}

Tensor globalAveragePool(const Tensor& in, Where where) {
    return averagePool2d(in, {in.shape.height, in.shape.width, 0, 0, 0, 0, 1, 1, 1, 1}, false, where);
}

Tensor activate(const Tensor& in, Activation kind, float slope, Where where) {
    Call call(where);
    const ActivationAt element{call.put(in.values), call.room(in.shape), kind, slope};
    return call.run(in.shape, in.shape.floats(), element);
}

Tensor maxout(const Tensor& in, int pieces, Where where) {
    if (pieces < 1 || in.shape.channels % pieces != 0) refuse("Maxout's pieces must divide the channels");
    Shape out = in.shape;
    out.channels /= pieces;
    Call call(where);
    const MaxoutAt element{call.put(in.values), call.room(out), pieces, in.shape.pixels()};
    return call.run(out, out.floats(), element);
}

Tensor fullyConnected(const Tensor& in,
                      const std::vector<float>& weights,
                      const std::vector<float>& bias,
                      Where where) {
    const int outputs = int(bias.size()), inputs = int(in.shape.floats() / std::size_t(in.shape.batch));
    if (weights.size() != std::size_t(outputs) * std::size_t(inputs)) refuse("The weights don't fit the inputs");
    const Shape out{in.shape.batch, outputs, 1, 1};
    Call call(where);
    const FullyConnectedAt element{
        call.put(in.values), call.put(weights), call.put(bias), call.room(out), inputs, outputs};
    return call.run(out, out.floats(), element);
}

Tensor softmax(const Tensor& in, Where where) {
    if (in.shape.pixels() != 1) refuse("Softmax takes one pixel of many channels");
    Call call(where);
    const SoftmaxAt element{call.put(in.values), call.room(in.shape), in.shape.channels};
    return call.run(in.shape, std::size_t(in.shape.batch), element);
}

Tensor toNhwc(const Tensor& nchw) {
    Tensor out = nchw;
    visitOrders(nchw.shape, [&](std::size_t atNchw, std::size_t atNhwc) { out.values[atNhwc] = nchw.values[atNchw]; });
    return out;
}

Tensor toNchw(const Tensor& nhwc) {
    Tensor out = nhwc;
    visitOrders(nhwc.shape, [&](std::size_t atNchw, std::size_t atNhwc) { out.values[atNchw] = nhwc.values[atNhwc]; });
    return out;
}

}  // namespace matte::baselines
