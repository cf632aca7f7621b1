// SPDX-License-Identifier: Apache-2.0
// The sm90 kernel's epilogue: bias, ReLU and conversion to half, then through shared memory to the output and its 2x2
// max pooling, or through the network's head to alpha. Works in rounds of 64 pixels with double buffering, so that a
// round's store overlaps the next round's arithmetic.
#pragma once

#include <cuda_fp16.h>

#include "inference/cuda/conv/head.cuh"
#include "inference/cuda/device/ptx.cuh"

namespace matte::sm90 {

constexpr int kRoundPixels = 64, kRoundRegisters = 32;
constexpr int kRoundBytes = kRoundPixels * 128, kPooledRoundBytes = kRoundBytes / 4;
constexpr int kPairPixels = 16, kPairs = kRoundPixels / kPairPixels;  // pixels of one matrix store

/// The destination of a warp group's tile.
struct TileTarget {
    const CUtensorMap* out;
    const CUtensorMap* pooled;  ///< null: no pooling
    Head head;                  ///< alpha null: no head
    int channel, x, row, y, batch;
    int width, height, tileWidth, fold;
    float bias0, bias1;  ///< of the thread's two rows of sums
    int piece0, piece1;  ///< groups of 8 channels, among 64, of the warp's first and last 8 rows
    bool relu;
};

/// The pairs of 8-pixel groups in a round that this block stores.
struct PairRange {
    int from = 0, until = kPairs;
};

#if __CUDA_ARCH_FEAT_SM90_ALL

__device__ inline std::uint32_t packHalves(float low, float high) {
    const __half2 pair = __floats2half2_rn(low, high);
    return *reinterpret_cast<const std::uint32_t*>(&pair);
}

__device__ inline float activate(float sum, float bias, bool relu) {
    const float value = sum + bias;
    return relu ? fmaxf(value, 0.0F) : value;
}

__device__ inline float max4(float a, float b, float c, float d) {
    return fmaxf(fmaxf(a, b), fmaxf(c, d));
}

/// Writes the 64 pixels whose sums begin at register `first` as [pixel][64 channels] with the 128-byte swizzle.
template <int first, int size>
__device__ inline void stageRound(
    const float (&sums)[size], const TileTarget& to, const PairRange& pairs, std::uint32_t buffer, int thread) {
    const int matrix = thread % 32 / 8, pixel = thread % 8;
    const std::uint32_t piece = std::uint32_t(swizzledPiece(pixel, matrix % 2 == 0 ? to.piece0 : to.piece1, 128)) * 16;
#pragma unroll
    for (int j = 0; j < 2 * kPairs; j += 2) {
        if (j / 2 < pairs.from || j / 2 >= pairs.until) continue;
        std::uint32_t r[4];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const int at = first + (j + i) * 4;
            r[2 * i] = packHalves(activate(sums[at], to.bias0, to.relu), activate(sums[at + 1], to.bias0, to.relu));
            r[2 * i + 1] =
                packHalves(activate(sums[at + 2], to.bias1, to.relu), activate(sums[at + 3], to.bias1, to.relu));
        }
        ptx::storeMatrix4Transposed(buffer + std::uint32_t((j + matrix / 2) * 8 + pixel) * 128 + piece, r);
    }
}

/// Writes the round's 2x2 maxima, 16 pixels. A thread's sums cover two columns of every row, so it computes each
/// maximum alone; two vertically adjacent maxima form the pair for the matrix store.
template <int first, int width, int size>
__device__ inline void stagePooled(const float (&sums)[size], const TileTarget& to, std::uint32_t buffer, int thread) {
    const int lane = thread % 32, warp = thread / 32;
    const int matrix = lane / 8, column = lane % 8;
    std::uint32_t r[4];
#pragma unroll
    for (int t = 0; t < 2; ++t) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float maximum[2];
            const float bias = half == 0 ? to.bias0 : to.bias1;
#pragma unroll
            for (int e = 0; e < 2; ++e) {
                const int above = width == 8 ? 4 * t + 2 * e : 4 * e + t;
                const int below = above + width / 8;
                const int a = first + above * 4 + half * 2, b = first + below * 4 + half * 2;
                maximum[e] = activate(max4(sums[a], sums[a + 1], sums[b], sums[b + 1]), bias, to.relu);
            }
            r[2 * t + half] = packHalves(maximum[0], maximum[1]);
        }
    }
    const int t = matrix / 2;
    const int pixel = width == 8 ? (2 * t + column % 2) * 4 + column / 2 : column % 2 * 8 + 4 * t + column / 2;
    const std::uint32_t piece = std::uint32_t(swizzledPiece(pixel, warp * 2 + matrix % 2, 128)) * 16;
    ptx::storeMatrix4Transposed(buffer + std::uint32_t(pixel) * 128 + piece, r);
}

/// The same for folded pixels: a thread's two rows are one channel of two neighbours, so there are 32 maxima of 32
/// channels.
template <int first, int width, int size>
__device__ inline void stagePooledFolded(const float (&sums)[size],
                                         const TileTarget& to,
                                         std::uint32_t buffer,
                                         int thread) {
    const int lane = thread % 32, warp = thread / 32;
    std::uint32_t r[4];
#pragma unroll
    for (int matrix = 0; matrix < 4; ++matrix) {
        const int above = width == 8 ? 2 * matrix : matrix / 2 * 4 + matrix % 2, below = above + width / 8;
        const int a = first + above * 4, b = first + below * 4;
        r[matrix] = packHalves(activate(max4(sums[a], sums[a + 2], sums[b], sums[b + 2]), to.bias0, to.relu),
                               activate(max4(sums[a + 1], sums[a + 3], sums[b + 1], sums[b + 3]), to.bias0, to.relu));
    }
    ptx::storeMatrix4Transposed(buffer + std::uint32_t(lane * 64 + swizzledPiece(lane, warp, 64) * 16), r);
}

/// Computes alpha of the 64 pixels that stageRound() wrote to `buffer`; two threads per pixel.
__device__ inline void finishHead(const TileTarget& to, int round, std::uint32_t buffer, int thread) {
    const int pixel = thread / 2, half = thread % 2, channels = kHeadWeights / to.fold;
    float sums[2] = {};  // of 16 channels each
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int piece = half * 4 + i;
        const uint4 halves = ptx::loadShared16(buffer + pixel * 128 + swizzledPiece(pixel, piece, 128) * 16);
        sums[i / 2] += dot8(halves, to.head.weights + piece * 8 % channels);
    }
    const int x = to.x + pixel % to.tileWidth, y = to.y + (round * kRoundPixels + pixel) / to.tileWidth;
    const float both = sums[0] + sums[1], all = both + __shfl_xor_sync(0xFFFFFFFF, both, 1);
    if (x >= to.width || y >= to.height) return;
    const float bias = *to.head.bias;
    float* const alpha = to.head.alpha + ((std::size_t(to.batch) * to.height + y) * to.width + x) * to.fold;
    if (to.fold == 4) {
        alpha[2 * half] = sigmoid(sums[0] + bias);
        alpha[2 * half + 1] = sigmoid(sums[1] + bias);
    } else if (to.fold == 2) {
        alpha[half] = sigmoid(both + bias);
    } else if (half == 0) {
        *alpha = sigmoid(all + bias);
    }
}

/// Stores round `round` of the tile, whose sums begin at register `first`. `scratch`: two buffers, then two for the
/// maxima. `turn` counts rounds over all tiles. `barrier`: the warp group's named barrier.
template <int first, int size>
__device__ inline void storeRound(const float (&sums)[size],
                                  const TileTarget& to,
                                  int round,
                                  const PairRange& pairs,
                                  std::uint32_t scratch,
                                  int& turn,
                                  int barrier,
                                  int thread) {
    const std::uint32_t buffer = scratch + (turn & 1) * kRoundBytes;
    const std::uint32_t pooled = scratch + 2 * kRoundBytes + (turn & 1) * kPooledRoundBytes;
    ++turn;
    if (thread == 0) ptx::storeWaitRead<1>();
    ptx::namedBarrier(barrier, 128);
    stageRound<first>(sums, to, pairs, buffer, thread);
    if (to.head.alpha) {
        ptx::namedBarrier(barrier, 128);
        return finishHead(to, round, buffer, thread);
    }
    if (to.pooled) {
        const bool folded = to.fold > 1;
        if (to.tileWidth == 8) {
            folded ? stagePooledFolded<first, 8>(sums, to, pooled, thread)
                   : stagePooled<first, 8>(sums, to, pooled, thread);
        } else {
            folded ? stagePooledFolded<first, 16>(sums, to, pooled, thread)
                   : stagePooled<first, 16>(sums, to, pooled, thread);
        }
    }
    ptx::proxyFence();
    ptx::namedBarrier(barrier, 128);
    if (thread == 0) {
        const int y = to.y + (round * kRoundPixels + pairs.from * kPairPixels) / to.tileWidth;
        ptx::tmaStore5d(to.out, buffer + pairs.from * (kRoundBytes / kPairs), to.channel, to.x, to.row, y, to.batch);
        if (to.pooled) {
            ptx::tmaStore5d(to.pooled, pooled + pairs.from * (kPooledRoundBytes / kPairs), to.channel,
                            to.fold > 1 ? to.x : to.x / 2, to.row, y / 2, to.batch);
        }
        ptx::storeCommit();
    }
}
#endif

}  // namespace matte::sm90
