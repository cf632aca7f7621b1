// SPDX-License-Identifier: Apache-2.0
// The mma kernel's main loop over a tile's steps, and the reduction of two groups of warps.
#pragma once

#include "inference/cuda/conv/conv_mma_load.cuh"

namespace matte::mma {

/// The products of one step. `pixels` and `weights`: addresses of this lane's row in the first block of each.
template <typename S>
__device__ void multiply(float (&sums)[S::tilesM][S::tilesN][4], std::uint32_t pixels, std::uint32_t weights) {
    constexpr int kBlockStride = S::reads == Reads::window ? S::pitch * kRowBytes : S::pixelBytes;
#pragma unroll
    for (int block = 0; block < S::blocks; ++block) {
#pragma unroll
        for (int k = 0; k < kChunk / 16 / S::groups; ++k) {
            // The second half of a chunk differs in bit 1 of the piece index, which the swizzle preserves under XOR.
            const std::uint32_t half = k * 32;
            std::uint32_t a[S::tilesM][4], b[S::tilesN / 2][4];
#pragma unroll
            for (int i = 0; i < S::tilesM; ++i) {
                ptx::loadMatrix4(a[i], (pixels ^ half) + block * kBlockStride + i * S::pitch * kRowBytes);
            }
#pragma unroll
            for (int j = 0; j < S::tilesN / 2; ++j) {
                ptx::loadMatrix4(b[j], (weights ^ half) + block * kTileBytes + j * 16 * kRowBytes);
            }
#pragma unroll
            for (int i = 0; i < S::tilesM; ++i) {
#pragma unroll
                for (int j = 0; j < S::tilesN; ++j) {
                    ptx::mma16816(sums[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
                }
            }
        }
    }
}

/// All steps of a tile.
template <typename S>
__device__ void accumulate(float (&sums)[S::tilesM][S::tilesN][4],
                           const MmaArgs& args,
                           const Tile& tile,
                           std::byte* shared) {
    constexpr int kColumns = S::reads == Reads::window ? 3 : 1;  // steps that share their pixels
    const int steps = (args.blocks + S::blocks - 1) / S::blocks, groups = steps / kColumns;
    // Weights are constant, so they may load before the previous kernel has finished; pixels may not.
    for (int i = 0; i < S::lead && i < steps; ++i) loadWeights<S>(args, tile, i, shared);
    ptx::waitForPrevious();
    for (int i = 0; i < (kColumns > 1 ? 1 : S::lead) && i < groups; ++i) loadPixels<S>(args, tile, i, shared);
    for (int i = 0; i < S::lead; ++i) ptx::copyAsyncCommit();

    const int lane = threadIdx.x % 32, warp = threadIdx.x % kGroupThreads / 32;
    const std::uint32_t groupHalf = threadIdx.x / kGroupThreads * 32;  // bytes, as in multiply()
    const int firstRow = warp / S::warpsN * S::tilesM, firstChannel = warp % S::warpsN * S::tilesN * 8;
    const int weightRow = lane % 8 + lane / 16 * 8;
    const std::uint32_t ring = ptx::sharedAddress(shared), pixelRing = ring + S::stages * S::weightBytes;
    const std::uint32_t laneWeights = ring + firstChannel / kTileChannels * S::blocks * kTileBytes +
                                      (firstChannel % kTileChannels + weightRow) * kRowBytes +
                                      swizzledPiece(weightRow, lane / 8 % 2, kRowBytes) * 16;
    for (int step = 0; step < steps; ++step) {
        ptx::copyAsyncWait<S::lead - 1>();
        __syncthreads();
        if (step + S::lead < steps) loadWeights<S>(args, tile, step + S::lead, shared);
        const int group = kColumns > 1 ? step / kColumns : step, next = group + (kColumns > 1 ? 1 : S::lead);
        if (step % kColumns == 0 && next < groups) loadPixels<S>(args, tile, next, shared);
        ptx::copyAsyncCommit();
        const int column = step % kColumns + lane % 16;
        const std::uint32_t lanePixels = pixelRing + group % S::pixelStages * S::chunksOfStep * S::pixelBytes +
                                         (firstRow * S::pitch + column) * kRowBytes +
                                         swizzledPiece(column, lane / 16, kRowBytes) * 16;
        multiply<S>(sums, lanePixels ^ groupHalf, (laneWeights + step % S::stages * S::weightBytes) ^ groupHalf);
    }
    ptx::copyAsyncWait<0>();
    __syncthreads();
}

/// Adds the second group's sums to the first's.
template <typename S>
__device__ void addGroups(float (&sums)[S::tilesM][S::tilesN][4], float* scratch) {
    const bool first = threadIdx.x < kGroupThreads;
    float* const mine = scratch + threadIdx.x % kGroupThreads;
    const auto each = [&](auto&& visit) {
#pragma unroll
        for (int i = 0; i < S::tilesM * S::tilesN * 4; ++i) {
            visit(sums[i / 4 / S::tilesN][i / 4 % S::tilesN][i % 4], mine[i * kGroupThreads]);
        }
    };
    if (!first) each([](float sum, float& other) { other = sum; });
    __syncthreads();
    if (first) each([](float& sum, float other) { sum += other; });
    __syncthreads();
}

}  // namespace matte::mma
