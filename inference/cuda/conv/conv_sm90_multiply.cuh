// SPDX-License-Identifier: Apache-2.0
// The sm90 kernel's main loop: how a consumer warp group multiplies one tile from the ring buffers.
#pragma once

#include "inference/cuda/conv/conv_sm90_tile.cuh"
#include "inference/cuda/device/wgmma.cuh"

namespace matte::sm90 {
#if __CUDA_ARCH_FEAT_SM90_ALL

/// A warp group's position in the ring buffers.
struct Consumer {
    const Sm90Args& args;
    const Shared& shared;
    const int group;
    Turn pixels, weights;

    /// Skips the stages of a tile that the other warp group computes.
    __device__ void skipTile(int loads) {
        pixels.skip(loads, args.pixelStages);
        weights.skip(loads * args.stagesOfLoad, args.weightStages);
    }

    /// With Split::depth the warp groups alternate stages of weights.
    [[nodiscard]] __device__ bool ownsStage() const {
        return args.split != Split::depth || (weights.stage & 1) == group;
    }
};

/// Issues the products of `taps` taps for the 16-channel steps [first, until) of a chunk. Must stay free of branches:
/// the compiler would commit at each, and a wait for all groups but one would wait for all.
template <int taps, int first, int until, int tapUnits, int size>
__device__ void products(float (&sums)[size], std::uint64_t weights, std::uint64_t pixels, const int* tapPixels) {
    ptx::wgmmaFence();
#pragma unroll
    for (int t = 0; t < taps; ++t) {
#pragma unroll
        for (int k = first; k < until; ++k) {
            ptx::wgmma(sums, weights + t * tapUnits + 2 * k, pixels + tapPixels[t] + 2 * k);
        }
    }
    ptx::wgmmaCommit();
}

/// Issues the products of one stage of weights. `tap`: the stage's first tap, relative to the load's first. `column`:
/// the filter column, if a stage is one column.
template <int pixels, int chunk, int taps>
__device__ void issue(float (&sums)[pixels / 2], const Consumer& at, int tap, int column) {
    constexpr int kRowBytes = chunk * 2, kSteps = chunk / 16, kTapUnits = kTapBytes<chunk> / kDescriptorUnit;
    const Sm90Args& args = at.args;
    const std::uint32_t groupWeights = args.split == Split::channels ? at.group * taps * kTapBytes<chunk> : 0;
    const std::uint32_t groupPixels = args.split == Split::pixels ? at.group * args.secondGroupBytes : 0;
    const std::uint64_t a = ptx::wgmmaDescriptor(
        at.shared.weights + at.weights.stage * at.shared.weightBytes + groupWeights, 8 * kRowBytes, kRowBytes);
    const std::uint64_t b = ptx::wgmmaDescriptor(at.shared.pixels + at.pixels.stage * args.pixelStride + groupPixels,
                                                 args.groupStride, kRowBytes);
    const int* tapPixels = args.tapUnits + tap;
    if constexpr (taps == 3 && kSteps > 1) {
        // Folded, the outer filter columns need only the end or the beginning of a chunk.
        if (column != 1 && args.neighbourSteps == 1) {
            if (column == 0) return products<taps, kSteps - 1, kSteps, kTapUnits>(sums, a, b, tapPixels);
            return products<taps, 0, 1, kTapUnits>(sums, a, b, tapPixels);
        }
        if constexpr (kSteps > 2) {
            if (column != 1 && args.neighbourSteps == 2) {
                if (column == 0) return products<taps, kSteps - 2, kSteps, kTapUnits>(sums, a, b, tapPixels);
                return products<taps, 0, 2, kTapUnits>(sums, a, b, tapPixels);
            }
        }
    }
    products<taps, 0, kSteps, kTapUnits>(sums, a, b, tapPixels);
}

/// Ordering of the warp groups under Split::tiles. A group starts its tile only after the other group has seen the last
/// load of the previous tile; otherwise it could take an earlier load of a stage for its own.
struct TakesTurns {
    bool on;  ///< Split::tiles
    int group;
    __device__ void begin() const {
        if (on) ptx::namedBarrier(kTurnBarrier + group, 2 * kGroupThreads);
    }
    __device__ void end(bool followed) const {
        if (on && followed) ptx::namedBarrierArrive(kTurnBarrier + 1 - group, 2 * kGroupThreads);
    }
};

/// One warp group's products for one tile of `loads` loads. Releases a stage only after issuing the next stage's
/// products, so that the tensor cores never idle. `followed`: the block has another tile.
template <int pixels, int chunk, int taps>
__device__ void multiply(float (&sums)[pixels / 2], Consumer& at, int loads, const TakesTurns& turns, bool followed) {
    const Sm90Args& args = at.args;
    const bool elected = threadIdx.x % 32 == 0;
    int usedWeights = -1, usedPixels = -1, column = 0;
    const auto release = [&] {
        if (elected && usedWeights >= 0) ptx::barrierArrive(at.shared.weightEmpty(usedWeights));
        if (elected && usedPixels >= 0) ptx::barrierArrive(at.shared.pixelEmpty(usedPixels));
        usedWeights = usedPixels = -1;
    };
    turns.begin();
    for (int load = 0; load < loads; ++load) {
        // Also if the group owns none of its products: it could otherwise pass this stage twice before the other group
        // has passed it once.
        ptx::barrierWait(at.shared.pixelFull(at.pixels.stage), at.pixels.phase);
        bool used = false;
        for (int i = 0; i < args.stagesOfLoad; ++i) {
            if (at.ownsStage()) {
                used = true;
                ptx::barrierWait(at.shared.weightFull(at.weights.stage), at.weights.phase);
                issue<pixels, chunk, taps>(sums, at, i * taps, column);
                ptx::wgmmaWait<1>();
                release();
                usedWeights = at.weights.stage;
            }
            at.weights.next(args.weightStages);
            column = column == 2 ? 0 : column + 1;
        }
        if (used) {
            usedPixels = at.pixels.stage;
        } else if (elected) {
            ptx::barrierArrive(at.shared.pixelEmpty(at.pixels.stage));
        }
        at.pixels.next(args.pixelStages);
    }
    turns.end(followed);
    ptx::wgmmaWait<0>();
    release();
}
#endif

}  // namespace matte::sm90
