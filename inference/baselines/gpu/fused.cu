// SPDX-License-Identifier: Apache-2.0
// Baseline 3 of the GPU: convolution, batch norm and ReLU in one kernel. The tiles of the baseline before; the sums,
// still in registers, are normalised and cut off at zero before they are written for the first time. Two kernels fewer,
// and four passes over the output fewer: two reads and two writes.
#include "inference/baselines/gpu/gpu.h"

namespace matte::baselines {
namespace {

constexpr int kInputTile = 16, kOutputTile = 14, kChannels = 16, kDepth = 4;

struct Args {
    const float *in, *weights, *bias;
    const float* norm;  ///< gamma, beta, mean, variance, [outChannels] each; null: none
    float* out;
    int inChannels, outChannels, height, width;
    float epsilon;
    bool relu;
};

/// The same operations in the same order as the separate kernels: the same bits.
__device__ float finished(float value, const Args& args, int channel) {
    if (args.norm) {
        const int n = args.outChannels;
        const float scale = args.norm[channel] / sqrtf(args.norm[3 * n + channel] + args.epsilon);
        value = fmaf(value - args.norm[2 * n + channel], scale, args.norm[n + channel]);
    }
    return args.relu ? fmaxf(value, 0.0F) : value;
}

__global__ void __launch_bounds__(256) fusedKernel(Args args) {
    __shared__ float tile[kDepth][kInputTile][kInputTile];
    __shared__ __align__(16) float weights[kDepth][9][kChannels + 4];  // fewer threads of a warp then write to one bank
    const int column = threadIdx.x, row = threadIdx.y, thread = row * kInputTile + column;
    const int xOut = blockIdx.x * kOutputTile + column, yOut = blockIdx.y * kOutputTile + row;
    const int xIn = xOut - 1, yIn = yOut - 1;
    const bool copies = xIn >= 0 && xIn < args.width && yIn >= 0 && yIn < args.height;
    const bool computes = column < kOutputTile && row < kOutputTile && xOut < args.width && yOut < args.height;
    const int groups = (args.outChannels + kChannels - 1) / kChannels;
    const int image = blockIdx.z / groups, first = blockIdx.z % groups * kChannels;
    const std::size_t pixels = std::size_t(args.height) * args.width;
    const float* images = args.in + std::size_t(image) * args.inChannels * pixels;
    float sums[kChannels];
    for (int o = 0; o < kChannels; ++o) sums[o] = first + o < args.outChannels ? args.bias[first + o] : 0.0F;
    for (int c0 = 0; c0 < args.inChannels; c0 += kDepth) {
        for (int c = 0; c < kDepth; ++c) {
            const bool valid = copies && c0 + c < args.inChannels;
            tile[c][row][column] = valid ? images[(c0 + c) * pixels + std::size_t(yIn) * args.width + xIn] : 0.0F;
        }
        for (int i = thread; i < kDepth * 9 * kChannels; i += 256) {
            const int inGroup = i % (kDepth * 9), o = i / (kDepth * 9), c = c0 + inGroup / 9;
            const bool valid = first + o < args.outChannels && c < args.inChannels;
            weights[inGroup / 9][inGroup % 9][o] =
                valid ? args.weights[(std::size_t(first + o) * args.inChannels + c0) * 9 + inGroup] : 0.0F;
        }
        __syncthreads();
        if (computes) {
            for (int c = 0; c < kDepth; ++c) {
#pragma unroll
                for (int tap = 0; tap < 9; ++tap) {
                    const float value = tile[c][row + tap / 3][column + tap % 3];
#pragma unroll
                    for (int o = 0; o < kChannels; ++o) sums[o] = fmaf(weights[c][tap][o], value, sums[o]);
                }
            }
        }
        __syncthreads();
    }
    if (!computes) return;
    float* to =
        args.out + (std::size_t(image) * args.outChannels + first) * pixels + std::size_t(yOut) * args.width + xOut;
    for (int o = 0; o < kChannels && first + o < args.outChannels; ++o) {
        to[o * pixels] = finished(sums[o], args, first + o);
    }
}

}  // namespace

std::unique_ptr<Layer> makeFused(const Block& block, const Shape& in) {
    std::vector<float> norm;
    if (block.norm) {
        for (const auto* part : {&block.norm->gamma, &block.norm->beta, &block.norm->mean, &block.norm->variance}) {
            norm.insert(norm.end(), part->begin(), part->end());
        }
    }
    return layerOf([weights = uploaded(block.filter.weights), bias = uploaded(block.filter.bias), norm = uploaded(norm),
                    epsilon = block.norm ? block.norm->epsilon : 0.0F, relu = block.relu, in,
                    outChannels = block.filter.outChannels](const float* from, float* to, StreamHandle stream) {
        const Args args{from,        weights.as<float>(), bias.as<float>(), norm.as<float>(), to,  in.channels,
                        outChannels, in.height,           in.width,         epsilon,          relu};
        const dim3 grid(blocksFor(std::size_t(in.width), kOutputTile), blocksFor(std::size_t(in.height), kOutputTile),
                        unsigned(in.batch * ((outChannels + kChannels - 1) / kChannels)));
        fusedKernel<<<grid, dim3(kInputTile, kInputTile), 0, stream>>>(args);
        CUDA_CHECK(cudaGetLastError());
    });
}

}  // namespace matte::baselines
