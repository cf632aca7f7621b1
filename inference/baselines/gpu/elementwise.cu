// SPDX-License-Identifier: Apache-2.0
// The layers around a convolution, each a kernel of its own as in the course: batch norm, ReLU, 2x2 max-pooling, the
// transposed convolution and the head. Beside them stands what networks of bottlenecks need besides 3x3 convolutions,
// for every implementation of the GPU that runs layer by layer: depthwise and pointwise convolutions and the stem, by
// one kernel, and the addition. One thread computes one output value; neighbours read neighbouring pixels and the same
// weight. All but the convolutions do next to no arithmetic for the bytes that they move: the memory's bandwidth is
// their limit.
#include "inference/baselines/gpu/for_each.cuh"

namespace matte::baselines {
namespace {

/// What a layer reads and writes, in device memory.
struct Tensors {
    const float *in, *weights, *bias;
    float* out;
};

template <typename Compute>
struct ElementOf {
    Tensors tensors;
    Compute compute;
    __device__ void operator()(std::size_t i) const { tensors.out[i] = compute(tensors, i); }
};

/// A layer of one step: output value i of `count` is compute(tensors, i).
template <typename Compute>
std::unique_ptr<Layer> eachOf(std::size_t count,
                              const std::vector<float>& weights,
                              const std::vector<float>& bias,
                              const Compute& compute) {
    return layerOf([count, compute, weightsThere = uploaded(weights), biasThere = uploaded(bias)](
                       const float* in, float* out, StreamHandle stream) {
        const Tensors tensors{in, weightsThere.as<float>(), biasThere.as<float>(), out};
        launchEach(count, ElementOf<Compute>{tensors, compute}, stream);
    });
}

std::unique_ptr<Layer> makeBatchNorm(const BatchNorm& norm, const Shape& in) {
    return eachOf(in.floats(), joined(norm), {},
                  [channels = in.channels, pixels = in.pixels(), epsilon = norm.epsilon] __device__(const Tensors& t,
                                                                                                    std::size_t i) {
                      const int c = int(i / pixels % channels);
                      const float scale = t.weights[c] / sqrtf(t.weights[3 * channels + c] + epsilon);
                      return fmaf(t.in[i] - t.weights[2 * channels + c], scale, t.weights[channels + c]);
                  });
}

std::unique_ptr<Layer> makeRelu(const Shape& in) {
    return eachOf(in.floats(), {}, {}, [] __device__(const Tensors& t, std::size_t i) { return fmaxf(t.in[i], 0.0F); });
}

std::unique_ptr<Layer> makeMaxPool(const Shape& in) {
    const auto compute = [height = in.height, width = in.width] __device__(const Tensors& t, std::size_t i) {
        const int outWidth = width / 2, outHeight = height / 2;
        const std::size_t x = i % outWidth * 2, y = i / outWidth % outHeight * 2, plane = i / outWidth / outHeight;
        const float* above = t.in + (plane * height + y) * width + x;
        const float* below = above + width;
        return fmaxf(fmaxf(above[0], above[1]), fmaxf(below[0], below[1]));
    };
    return eachOf(Shape{in.batch, in.channels, in.height / 2, in.width / 2}.floats(), {}, {}, compute);
}

/// Each input pixel becomes 2x2 output pixels, with a weight of their own for each place: [out, in, 2, 2].
std::unique_ptr<Layer> makeUpConv(const Filter& filter, const Shape& in) {
    const auto compute = [inChannels = in.channels, outChannels = filter.outChannels, height = in.height,
                          width = in.width] __device__(const Tensors& t, std::size_t i) {
        const int outWidth = width * 2, outHeight = height * 2;
        const int x = int(i % outWidth), y = int(i / outWidth % outHeight);
        const std::size_t plane = i / outWidth / outHeight;
        const int channel = int(plane % outChannels), image = int(plane / outChannels);
        const std::size_t pixels = std::size_t(height) * width;
        const float* from = t.in + std::size_t(image) * inChannels * pixels + std::size_t(y / 2) * width + x / 2;
        const float* weight = t.weights + std::size_t(channel) * inChannels * 4 + y % 2 * 2 + x % 2;
        float sum = t.bias[channel];
        for (int c = 0; c < inChannels; ++c) sum = fmaf(weight[c * 4], from[c * pixels], sum);
        return sum;
    };
    return eachOf(Shape{in.batch, filter.outChannels, in.height * 2, in.width * 2}.floats(), filter.weights,
                  filter.bias, compute);
}

std::unique_ptr<Layer> makeHead(const Filter& filter, const Shape& in) {
    const auto compute = [channels = in.channels, pixels = in.pixels()] __device__(const Tensors& t, std::size_t i) {
        const float* from = t.in + i / pixels * channels * pixels + i % pixels;
        float sum = t.bias[0];
        for (int c = 0; c < channels; ++c) sum = fmaf(t.weights[c], from[c * pixels], sum);
        return 1.0F / (1.0F + expf(-sum));
    };
    return eachOf(in.pixels() * std::size_t(in.batch), filter.weights, filter.bias, compute);
}

/// A convolution of any side and stride; `inChannels` are those that one output channel sums.
std::unique_ptr<Layer> makeAnyConv(const Conv& layer, const Shape& in) {
    const Filter& filter = layer.filter;
    const auto compute = [channels = in.channels, height = in.height, width = in.width,
                          outChannels = filter.outChannels, inChannels = filter.inChannels, side = filter.side(),
                          stride = layer.stride, depthwise = layer.kind == ConvKind::depthwise,
                          relu = layer.relu] __device__(const Tensors& t, std::size_t i) {
        const int outHeight = height / stride, outWidth = width / stride;
        const int top = int(i / outWidth % outHeight) * stride - side / 2, left = int(i % outWidth) * stride - side / 2;
        const std::size_t plane = i / outWidth / outHeight, image = plane / outChannels;
        const int channel = int(plane % outChannels);
        const std::size_t pixels = std::size_t(height) * width;
        const float* from = t.in + (image * channels + (depthwise ? channel : 0)) * pixels;
        const float* weight = t.weights + std::size_t(channel) * inChannels * side * side;
        float sum = t.bias[channel];
        for (int c = 0; c < inChannels; ++c, from += pixels) {
            for (int y = top; y < top + side; ++y) {
                for (int x = left; x < left + side; ++x, ++weight) {
                    if (y < 0 || y >= height || x < 0 || x >= width) continue;
                    sum = fmaf(*weight, from[std::size_t(y) * width + x], sum);
                }
            }
        }
        return relu ? fmaxf(sum, 0.0F) : sum;
    };
    return eachOf(Shape{in.batch, filter.outChannels, in.height / layer.stride, in.width / layer.stride}.floats(),
                  filter.weights, filter.bias, compute);
}

std::unique_ptr<Layer> makeAdd(const Shape& in) {
    return eachOf(in.floats(), {}, {}, [] __device__(const Tensors& t, std::size_t i) { return t.out[i] + t.in[i]; });
}

}  // namespace

PlainLayers gpuLayers() {
    return {makeDirectConv, makeBatchNorm, makeRelu, makeMaxPool, makeUpConv, makeHead, {makeAnyConv, makeAdd}};
}

}  // namespace matte::baselines
