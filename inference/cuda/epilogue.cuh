// SPDX-License-Identifier: Apache-2.0
// What happens to a warp group's sums on their way out of the sm90 kernel: bias, ReLU, half, and through shared memory
// to the output and to its 2x2 maxima. Works in rounds of 64 pixels, two buffers in turn, so that a round's store runs
// beside the next round's arithmetic.
#pragma once

#include <cuda_fp16.h>

#include "inference/cuda/ptx.cuh"

namespace matte {

constexpr int kRoundPixels = 64, kRoundRegisters = 32;
constexpr int kRoundBytes = kRoundPixels * 128, kPooledRoundBytes = kRoundBytes / 4;

/// Where a warp group's tile goes.
struct TileTarget {
    const CUtensorMap* out;
    const CUtensorMap* pooled;  ///< null: no pooling
    int channel, x, row, y, batch;
    int tileWidth;
    float bias0, bias1;  ///< of the thread's two rows of sums
    bool relu;
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

/// The 64 pixels whose sums begin at register `first`, as [pixel][64 channels] with the 128-byte swizzle.
template <int first, int size>
__device__ inline void stageRound(const float (&sums)[size], const TileTarget& to, std::uint32_t buffer, int thread) {
    const int lane = thread % 32, warp = thread / 32;
    const int matrix = lane / 8, pixel = lane % 8;
    const std::uint32_t piece = std::uint32_t(swizzledPiece(pixel, warp * 2 + matrix % 2, 128)) * 16;
#pragma unroll
    for (int j = 0; j < 8; j += 2) {
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

/// 2x2 maxima of the same round: 16 pixels. A thread's sums cover two columns of every row, so each maximum is its own;
/// two of them, one above the other, make the pair that a matrix store wants.
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

/// Round `round` of the tile: registers from `first`. `scratch`: two buffers, then two for the maxima; `turn` counts
/// rounds over all tiles; `barrier` is the warp group's own.
template <int first, int size>
__device__ inline void storeRound(const float (&sums)[size],
                                  const TileTarget& to,
                                  int round,
                                  std::uint32_t scratch,
                                  int& turn,
                                  int barrier,
                                  int thread) {
    const std::uint32_t buffer = scratch + (turn & 1) * kRoundBytes;
    const std::uint32_t pooled = scratch + 2 * kRoundBytes + (turn & 1) * kPooledRoundBytes;
    ++turn;
    if (thread == 0) ptx::storeWaitRead<1>();
    ptx::namedBarrier(barrier, 128);
    stageRound<first>(sums, to, buffer, thread);
    if (to.pooled) {
        if (to.tileWidth == 8) {
            stagePooled<first, 8>(sums, to, pooled, thread);
        } else {
            stagePooled<first, 16>(sums, to, pooled, thread);
        }
    }
    ptx::proxyFence();
    ptx::namedBarrier(barrier, 128);
    if (thread == 0) {
        const int y = to.y + round * (kRoundPixels / to.tileWidth);
        ptx::tmaStore5d(to.out, buffer, to.channel, to.x, to.row, y, to.batch);
        if (to.pooled) ptx::tmaStore5d(to.pooled, pooled, to.channel, to.x / 2, to.row, y / 2, to.batch);
        ptx::storeCommit();
    }
}
#endif

}  // namespace matte
