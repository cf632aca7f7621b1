// SPDX-License-Identifier: Apache-2.0
// What a network of bottlenecks needs beside the baselines' 3x3 convolutions, for every implementation of the GPU that
// runs layer by layer: depthwise and pointwise convolutions and the stem, all by one kernel, and the addition. One
// thread computes one output value, 256 threads a block; neighbours read neighbouring pixels and the same weight.
#include "inference/baselines/gpu/gpu.h"

namespace matte::baselines {
namespace {

constexpr unsigned kThreads = 256;

/// Where a convolution finds what it multiplies.
struct Geometry {
    int channels, height, width;  ///< of the input
    int outChannels, inChannels;  ///< inChannels: those that one output channel sums
    int side, stride;
    bool depthwise, relu;

    Geometry(const Conv& layer, const Shape& in)
        : channels(in.channels),
          height(in.height),
          width(in.width),
          outChannels(layer.filter.outChannels),
          inChannels(layer.filter.inChannels),
          side(layer.filter.side()),
          stride(layer.stride),
          depthwise(layer.kind == ConvKind::depthwise),
          relu(layer.relu) {}
};

__global__ void convKernel(
    const float* in, const float* weights, const float* bias, float* out, const Geometry g, std::size_t count) {
    const std::size_t i = std::size_t(blockIdx.x) * kThreads + threadIdx.x;
    if (i >= count) return;
    const int outHeight = g.height / g.stride, outWidth = g.width / g.stride;
    const int top = int(i / outWidth % outHeight) * g.stride - g.side / 2;
    const int left = int(i % outWidth) * g.stride - g.side / 2;
    const std::size_t plane = i / outWidth / outHeight, image = plane / g.outChannels;
    const int channel = int(plane % g.outChannels);
    const std::size_t pixels = std::size_t(g.height) * g.width;
    const float* from = in + (image * g.channels + (g.depthwise ? channel : 0)) * pixels;
    const float* weight = weights + std::size_t(channel) * g.inChannels * g.side * g.side;
    float sum = bias[channel];
    for (int c = 0; c < g.inChannels; ++c) {
        for (int y = top; y < top + g.side; ++y) {
            for (int x = left; x < left + g.side; ++x, ++weight) {
                if (y < 0 || y >= g.height || x < 0 || x >= g.width) continue;
                sum = fmaf(*weight, from[std::size_t(y) * g.width + x], sum);
            }
        }
        from += pixels;
    }
    out[i] = g.relu ? fmaxf(sum, 0.0F) : sum;
}

__global__ void addKernel(const float* in, float* out, std::size_t count) {
    const std::size_t i = std::size_t(blockIdx.x) * kThreads + threadIdx.x;
    if (i < count) out[i] += in[i];
}

std::unique_ptr<Layer> makeConv(const Conv& layer, const Shape& in) {
    const Shape out{in.batch, layer.filter.outChannels, in.height / layer.stride, in.width / layer.stride};
    return layerOf([weights = uploaded(layer.filter.weights), bias = uploaded(layer.filter.bias),
                    geometry = Geometry(layer, in),
                    count = out.floats()](const float* from, float* to, StreamHandle stream) {
        convKernel<<<blocksFor(count, kThreads), kThreads, 0, stream>>>(from, weights.as<float>(), bias.as<float>(), to,
                                                                        geometry, count);
        CUDA_CHECK(cudaGetLastError());
    });
}

std::unique_ptr<Layer> makeAdd(const Shape& in) {
    return layerOf([count = in.floats()](const float* from, float* to, StreamHandle stream) {
        addKernel<<<blocksFor(count, kThreads), kThreads, 0, stream>>>(from, to, count);
        CUDA_CHECK(cudaGetLastError());
    });
}

}  // namespace

BottleneckLayers gpuBottlenecks() {
    return {makeConv, makeAdd};
}

}  // namespace matte::baselines
