// SPDX-License-Identifier: Apache-2.0
// The reduction of a tile's sums when warp groups split its depth: the two groups of a block through its scratch
// memory, all groups of a cluster through distributed shared memory.
#pragma once

#include "inference/cuda/conv/conv_sm90_tile.cuh"
#include "inference/cuda/conv/epilogue.cuh"

namespace matte::sm90 {
#if __CUDA_ARCH_FEAT_SM90_ALL

template <int first, int size>
__device__ void send(const float (&sums)[size], float* scratch, int thread) {
#pragma unroll
    for (int i = 0; i < kRoundRegisters; ++i) scratch[i * kGroupThreads + thread] = sums[first + i];
}
template <int first, int size>
__device__ void receive(float (&sums)[size], const float* scratch, int thread) {
#pragma unroll
    for (int i = 0; i < kRoundRegisters; ++i) sums[first + i] += scratch[i * kGroupThreads + thread];
}

/// Each warp group of a block holds sums over half of the depth and sends the other the rounds that the other stores,
/// which for the first group are the first rounds.
template <int pixels, int round = 0>
__device__ void exchangeRounds(float (&sums)[pixels / 2], float* mine, const float* other, int group, int thread) {
    constexpr int kRounds = pixels / kRoundPixels, kShare = (kRounds + 1) / 2;
    if constexpr (round < kShare) {
        constexpr int kFirst = round * kRoundRegisters, kSecond = (kShare + round) * kRoundRegisters;
        constexpr bool kBoth = kSecond < pixels / 2;
        if (group == 1) send<kFirst>(sums, mine, thread);
        if constexpr (kBoth) {
            if (group == 0) send<kSecond>(sums, mine, thread);
        }
        ptx::namedBarrier(kExchangeBarrier, 2 * kGroupThreads);
        if (group == 0) receive<kFirst>(sums, other, thread);
        if constexpr (kBoth) {
            if (group == 1) receive<kSecond>(sums, other, thread);
        }
        ptx::namedBarrier(kExchangeBarrier, 2 * kGroupThreads);
        exchangeRounds<pixels, round + 1>(sums, mine, other, group, thread);
    }
}

/// A tile of 64 pixels has eight groups of 8 pixels; each block of a cluster stores an equal, contiguous slice of them.
constexpr int kPixelGroups = 8, kPixelGroupBytes = kGroupThreads * 16;

__device__ inline int groupsOfSlice(const Sm90Args& args) {
    return kPixelGroups / args.cluster;
}
/// Bytes that a block's first warp group receives: its slice of the sums of every other warp group of the cluster.
__device__ inline int slicesBytes(const Sm90Args& args) {
    return (2 * args.cluster - 1) * groupsOfSlice(args) * kPixelGroupBytes;
}

/// Sends every block of the cluster its slice of this warp group's sums. A first warp group keeps its own slice.
__device__ inline void sendSlices(
    const float (&sums)[kRoundRegisters], const Sm90Args& args, const Shared& shared, int rank, int group, int thread) {
    const int sender = 2 * rank + group, count = groupsOfSlice(args);
#pragma unroll
    for (int j = 0; j < kPixelGroups; ++j) {
        const int owner = j / count;
        if (group == 0 && owner == rank) continue;
        const int slot = sender < 2 * owner ? sender : sender - 1;  // the owner has no slot
        const std::uint32_t to = shared.scratch + (slot * count + j % count) * kPixelGroupBytes + thread * 16;
        ptx::storeRemote16(ptx::remoteAddress(to, owner), ptx::remoteAddress(shared.sumsFull(), owner),
                           make_float4(sums[4 * j], sums[4 * j + 1], sums[4 * j + 2], sums[4 * j + 3]));
    }
}

/// Adds the received slices, in a fixed order, so that results are reproducible.
__device__ inline void receiveSlices(
    float (&sums)[kRoundRegisters], const Sm90Args& args, const Shared& shared, int rank, int thread) {
    const int count = groupsOfSlice(args);
    ptx::barrierWaitCluster(shared.sumsFull(), 0);
#pragma unroll
    for (int j = 0; j < kPixelGroups; ++j) {
        if (j / count != rank) continue;
        for (int slot = 0; slot < 2 * args.cluster - 1; ++slot) {
            const uint4 four =
                ptx::loadShared16(shared.scratch + (slot * count + j % count) * kPixelGroupBytes + thread * 16);
            sums[4 * j] += __uint_as_float(four.x);
            sums[4 * j + 1] += __uint_as_float(four.y);
            sums[4 * j + 2] += __uint_as_float(four.z);
            sums[4 * j + 3] += __uint_as_float(four.w);
        }
    }
}
#endif

}  // namespace matte::sm90
