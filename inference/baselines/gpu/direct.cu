// SPDX-License-Identifier: Apache-2.0
// Baseline 1 of the GPU: direct convolution. A block of 16x16 threads stands on 16x16 pixels of the output, one thread
// a pixel; the grid's z counts the output channels of all images. Each thread runs over the input channels and the nine
// taps by itself and reads everything from global memory: 18 reads for 9 multiply-adds.
#include "inference/baselines/gpu/gpu.h"

namespace matte::baselines {
namespace {

constexpr int kSide = 16;

__global__ void directKernel(const float* in,
                             const float* weights,
                             const float* bias,
                             float* out,
                             int inChannels,
                             int outChannels,
                             int height,
                             int width) {
    const int x = blockIdx.x * kSide + threadIdx.x, y = blockIdx.y * kSide + threadIdx.y;
    const int image = blockIdx.z / outChannels, channel = blockIdx.z % outChannels;
    if (x >= width || y >= height) return;
    const std::size_t pixels = std::size_t(height) * width;
    const float* plane = in + std::size_t(image) * inChannels * pixels;
    const float* weight = weights + std::size_t(channel) * inChannels * 9;
    float sum = bias[channel];
    for (int c = 0; c < inChannels; ++c) {
        for (int ky = 0; ky < 3; ++ky) {
            const int row = y + ky - 1;
            if (row < 0 || row >= height) continue;
            for (int kx = 0; kx < 3; ++kx) {
                const int column = x + kx - 1;
                if (column < 0 || column >= width) continue;
                sum = fmaf(weight[ky * 3 + kx], plane[std::size_t(row) * width + column], sum);
            }
        }
        plane += pixels;
        weight += 9;
    }
    out[blockIdx.z * pixels + std::size_t(y) * width + x] = sum;
}

}  // namespace

std::unique_ptr<Layer> makeDirectConv(const Filter& filter, const Shape& in) {
    return layerOf([weights = uploaded(filter.weights), bias = uploaded(filter.bias), in,
                    outChannels = filter.outChannels](const float* from, float* to, StreamHandle stream) {
        const dim3 grid(blocksFor(std::size_t(in.width), kSide), blocksFor(std::size_t(in.height), kSide),
                        unsigned(in.batch * outChannels));
        directKernel<<<grid, dim3(kSide, kSide), 0, stream>>>(from, weights.as<float>(), bias.as<float>(), to,
                                                              in.channels, outChannels, in.height, in.width);
        CUDA_CHECK(cudaGetLastError());
    });
}

std::unique_ptr<Layer> makeDirect(const Block& block, const Shape& in) {
    return makeSeparate(makeDirectConv(block.filter, in), gpuLayers(), block, in);
}

}  // namespace matte::baselines
