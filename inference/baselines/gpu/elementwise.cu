// SPDX-License-Identifier: Apache-2.0
// The layers around a convolution, each a kernel of its own as in the course: batch norm, ReLU, 2x2 max-pooling, the
// transposed convolution and the head. One thread computes one output value, 256 threads a block. All but the
// transposed convolution do next to no arithmetic for the bytes that they move: the memory's bandwidth is their limit.
#include "inference/baselines/gpu/gpu.h"

namespace matte::baselines {
namespace {

constexpr unsigned kThreads = 256;

__device__ std::size_t threadIndex() {
    return std::size_t(blockIdx.x) * kThreads + threadIdx.x;
}

/// gamma, beta, mean, variance stand one after the other in `norm`, [channels] each.
__global__ void batchNormKernel(const float* in,
                                const float* norm,
                                float epsilon,
                                float* out,
                                int channels,
                                std::size_t pixels,
                                std::size_t count) {
    const std::size_t i = threadIndex();
    if (i >= count) return;
    const int c = int(i / pixels % channels);
    const float scale = norm[c] / sqrtf(norm[3 * channels + c] + epsilon);
    out[i] = fmaf(in[i] - norm[2 * channels + c], scale, norm[channels + c]);
}

__global__ void reluKernel(const float* in, float* out, std::size_t count) {
    const std::size_t i = threadIndex();
    if (i < count) out[i] = fmaxf(in[i], 0.0F);
}

__global__ void maxPoolKernel(const float* in, float* out, int height, int width, std::size_t count) {
    const std::size_t i = threadIndex();
    if (i >= count) return;
    const int outWidth = width / 2, outHeight = height / 2;
    const std::size_t x = i % outWidth * 2, y = i / outWidth % outHeight * 2, plane = i / outWidth / outHeight;
    const float* above = in + (plane * height + y) * width + x;
    const float* below = above + width;
    out[i] = fmaxf(fmaxf(above[0], above[1]), fmaxf(below[0], below[1]));
}

/// Each input pixel becomes 2x2 output pixels, with a weight of their own for each place: [out, in, 2, 2].
__global__ void upConvKernel(const float* in,
                             const float* weights,
                             const float* bias,
                             float* out,
                             int inChannels,
                             int outChannels,
                             int height,
                             int width,
                             std::size_t count) {
    const std::size_t i = threadIndex();
    if (i >= count) return;
    const int outWidth = width * 2, outHeight = height * 2;
    const int x = int(i % outWidth), y = int(i / outWidth % outHeight);
    const std::size_t plane = i / outWidth / outHeight;
    const int channel = int(plane % outChannels), image = int(plane / outChannels);
    const std::size_t pixels = std::size_t(height) * width;
    const float* from = in + std::size_t(image) * inChannels * pixels + std::size_t(y / 2) * width + x / 2;
    const float* weight = weights + std::size_t(channel) * inChannels * 4 + y % 2 * 2 + x % 2;
    float sum = bias[channel];
    for (int c = 0; c < inChannels; ++c) sum = fmaf(weight[c * 4], from[c * pixels], sum);
    out[i] = sum;
}

__global__ void headKernel(const float* in,
                           const float* weights,
                           const float* bias,
                           float* out,
                           int channels,
                           std::size_t pixels,
                           std::size_t count) {
    const std::size_t i = threadIndex();
    if (i >= count) return;
    const float* from = in + i / pixels * channels * pixels + i % pixels;
    float sum = bias[0];
    for (int c = 0; c < channels; ++c) sum = fmaf(weights[c], from[c * pixels], sum);
    out[i] = 1.0F / (1.0F + expf(-sum));
}

std::unique_ptr<Layer> makeBatchNorm(const BatchNorm& norm, const Shape& in) {
    std::vector<float> all;
    for (const auto* part : {&norm.gamma, &norm.beta, &norm.mean, &norm.variance}) {
        all.insert(all.end(), part->begin(), part->end());
    }
    return layerOf(
        [all = uploaded(all), epsilon = norm.epsilon, in](const float* from, float* to, StreamHandle stream) {
            batchNormKernel<<<blocksFor(in.floats(), kThreads), kThreads, 0, stream>>>(
                from, all.as<float>(), epsilon, to, in.channels, in.pixels(), in.floats());
            CUDA_CHECK(cudaGetLastError());
        });
}

std::unique_ptr<Layer> makeRelu(const Shape& in) {
    return layerOf([count = in.floats()](const float* from, float* to, StreamHandle stream) {
        reluKernel<<<blocksFor(count, kThreads), kThreads, 0, stream>>>(from, to, count);
        CUDA_CHECK(cudaGetLastError());
    });
}

std::unique_ptr<Layer> makeMaxPool(const Shape& in) {
    const Shape out{in.batch, in.channels, in.height / 2, in.width / 2};
    return layerOf([in, count = out.floats()](const float* from, float* to, StreamHandle stream) {
        maxPoolKernel<<<blocksFor(count, kThreads), kThreads, 0, stream>>>(from, to, in.height, in.width, count);
        CUDA_CHECK(cudaGetLastError());
    });
}

std::unique_ptr<Layer> makeUpConv(const Filter& filter, const Shape& in) {
    const Shape out{in.batch, filter.outChannels, in.height * 2, in.width * 2};
    return layerOf([weights = uploaded(filter.weights), bias = uploaded(filter.bias), in, out](
                       const float* from, float* to, StreamHandle stream) {
        upConvKernel<<<blocksFor(out.floats(), kThreads), kThreads, 0, stream>>>(
            from, weights.as<float>(), bias.as<float>(), to, in.channels, out.channels, in.height, in.width,
            out.floats());
        CUDA_CHECK(cudaGetLastError());
    });
}

std::unique_ptr<Layer> makeHead(const Filter& filter, const Shape& in) {
    return layerOf([weights = uploaded(filter.weights), bias = uploaded(filter.bias), in](const float* from, float* to,
                                                                                          StreamHandle stream) {
        const std::size_t count = in.pixels() * std::size_t(in.batch);
        headKernel<<<blocksFor(count, kThreads), kThreads, 0, stream>>>(from, weights.as<float>(), bias.as<float>(), to,
                                                                        in.channels, in.pixels(), count);
        CUDA_CHECK(cudaGetLastError());
    });
}

}  // namespace

PlainLayers gpuLayers() {
    return {makeDirectConv, makeBatchNorm, makeRelu, makeMaxPool, makeUpConv, makeHead, gpuBottlenecks()};
}

}  // namespace matte::baselines
