// SPDX-License-Identifier: Apache-2.0
// Baselines 2 and 3 of the GPU: tiles in shared memory. A block of 16x16 threads copies an input tile of 16x16 pixels,
// one thread a pixel, and computes the 14x14 output pixels that it suffices for; the tiles of neighbours overlap by
// two. Three baselines, two kernels:
//
// - the course's own: one output channel a block, one input channel between two barriers. What it saves, a modern GPU's
//   L1 cache had already saved, and the barriers are new: see inference/baselines/README.md;
// - the same tiles put to use: a copied tile serves kChannels output channels, whose sums each thread keeps in
//   registers, and kDepth input channels are copied between two barriers;
// - baseline 3, convolution, batch norm and ReLU in one kernel: the same tiles, whose sums, still in registers, are
//   normalised and cut off at zero before they are written for the first time. Two kernels fewer, and four passes over
//   the output fewer: two reads and two writes.
#include "inference/baselines/gpu/gpu.h"

namespace matte::baselines {
namespace {

constexpr int kInputTile = 16, kOutputTile = 14, kChannels = 16, kDepth = 4;

struct Args {
    const float *in, *weights, *bias;
    float* out;
    int inChannels, outChannels, height, width;
    const float* norm = nullptr;  ///< gamma, beta, mean, variance, [outChannels] each; null: none
    float epsilon = 0;
    bool relu = false;
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

/// One thread's pixel of a tile.
struct Place {
    int column, row, xOut, yOut, xIn, yIn;
    bool copies, computes;
    __device__ explicit Place(const Args& args)
        : column(threadIdx.x),
          row(threadIdx.y),
          xOut(blockIdx.x * kOutputTile + column),
          yOut(blockIdx.y * kOutputTile + row),
          xIn(xOut - 1),
          yIn(yOut - 1),
          copies(xIn >= 0 && xIn < args.width && yIn >= 0 && yIn < args.height),
          computes(column < kOutputTile && row < kOutputTile && xOut < args.width && yOut < args.height) {}
};

__global__ void tiledPlainKernel(Args args) {
    __shared__ float tile[kInputTile][kInputTile];
    const Place at(args);
    const int image = blockIdx.z / args.outChannels, channel = blockIdx.z % args.outChannels;
    const std::size_t pixels = std::size_t(args.height) * args.width;
    const float* plane = args.in + std::size_t(image) * args.inChannels * pixels;
    float sum = args.bias[channel];
    for (int c = 0; c < args.inChannels; ++c, plane += pixels) {
        tile[at.row][at.column] = at.copies ? plane[std::size_t(at.yIn) * args.width + at.xIn] : 0.0F;
        __syncthreads();
        if (at.computes) {
            const float* weight = args.weights + (std::size_t(channel) * args.inChannels + c) * 9;
            for (int tap = 0; tap < 9; ++tap) {
                sum = fmaf(weight[tap], tile[at.row + tap / 3][at.column + tap % 3], sum);
            }
        }
        __syncthreads();
    }
    if (at.computes) args.out[blockIdx.z * pixels + std::size_t(at.yOut) * args.width + at.xOut] = sum;
}

template <bool fused>
__global__ void __launch_bounds__(256) tiledKernel(Args args) {
    __shared__ float tile[kDepth][kInputTile][kInputTile];
    __shared__ __align__(16) float weights[kDepth][9][kChannels + 4];  // fewer threads of a warp then write to one bank
    const Place at(args);
    const int groups = (args.outChannels + kChannels - 1) / kChannels;
    const int image = blockIdx.z / groups, first = blockIdx.z % groups * kChannels;
    const int thread = at.row * kInputTile + at.column;
    const std::size_t pixels = std::size_t(args.height) * args.width;
    const float* images = args.in + std::size_t(image) * args.inChannels * pixels;
    float sums[kChannels];
    for (int o = 0; o < kChannels; ++o) sums[o] = first + o < args.outChannels ? args.bias[first + o] : 0.0F;
    for (int c0 = 0; c0 < args.inChannels; c0 += kDepth) {
        for (int c = 0; c < kDepth; ++c) {
            const bool valid = at.copies && c0 + c < args.inChannels;
            tile[c][at.row][at.column] =
                valid ? images[(c0 + c) * pixels + std::size_t(at.yIn) * args.width + at.xIn] : 0.0F;
        }
        for (int i = thread; i < kDepth * 9 * kChannels; i += 256) {
            const int inGroup = i % (kDepth * 9), o = i / (kDepth * 9), c = c0 + inGroup / 9;
            const bool valid = first + o < args.outChannels && c < args.inChannels;
            weights[inGroup / 9][inGroup % 9][o] =
                valid ? args.weights[(std::size_t(first + o) * args.inChannels + c0) * 9 + inGroup] : 0.0F;
        }
        __syncthreads();
        if (at.computes) {
            for (int c = 0; c < kDepth; ++c) {
#pragma unroll
                for (int tap = 0; tap < 9; ++tap) {
                    const float value = tile[c][at.row + tap / 3][at.column + tap % 3];
#pragma unroll
                    for (int o = 0; o < kChannels; ++o) sums[o] = fmaf(weights[c][tap][o], value, sums[o]);
                }
            }
        }
        __syncthreads();
    }
    if (!at.computes) return;
    float* to = args.out + (std::size_t(image) * args.outChannels + first) * pixels +
                std::size_t(at.yOut) * args.width + at.xOut;
    for (int o = 0; o < kChannels && first + o < args.outChannels; ++o) {
        to[o * pixels] = fused ? finished(sums[o], args, first + o) : sums[o];
    }
}

using Kernel = void (*)(Args);

/// A layer of one step by `kernel`, a block of which computes `perBlock` output channels.
std::unique_ptr<Layer> layerBy(Kernel kernel, int perBlock, const Block& block, const Shape& in) {
    const Filter& filter = block.filter;
    return layerOf(
        [kernel, perBlock, in, outChannels = filter.outChannels, relu = block.relu, weights = uploaded(filter.weights),
         bias = uploaded(filter.bias), norm = uploaded(block.norm ? joined(*block.norm) : std::vector<float>()),
         epsilon = block.norm ? block.norm->epsilon : 0.0F](const float* from, float* to, StreamHandle stream) {
            const Args args{from,     weights.as<float>(), bias.as<float>(), to,  in.channels, outChannels, in.height,
                            in.width, norm.as<float>(),    epsilon,          relu};
            const dim3 grid(blocksFor(std::size_t(in.width), kOutputTile),
                            blocksFor(std::size_t(in.height), kOutputTile),
                            unsigned(in.batch * ((outChannels + perBlock - 1) / perBlock)));
            kernel<<<grid, dim3(kInputTile, kInputTile), 0, stream>>>(args);
            CUDA_CHECK(cudaGetLastError());
        });
}

}  // namespace

std::unique_ptr<Layer> makeTiledPlain(const Block& block, const Shape& in) {
    return makeSeparate(layerBy(tiledPlainKernel, 1, block, in), gpuLayers(), block, in);
}

std::unique_ptr<Layer> makeTiled(const Block& block, const Shape& in) {
    return makeSeparate(layerBy(tiledKernel<false>, kChannels, block, in), gpuLayers(), block, in);
}

std::unique_ptr<Layer> makeFused(const Block& block, const Shape& in) {
    return layerBy(tiledKernel<true>, kChannels, block, in);
}

}  // namespace matte::baselines
