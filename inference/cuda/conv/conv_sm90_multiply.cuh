// SPDX-License-Identifier: Apache-2.0
// The sm90 kernel's products: what a warp group of consumers does with the rings for one tile.
#pragma once

#include "inference/cuda/conv/conv_sm90_tile.cuh"
#include "inference/cuda/device/wgmma.cuh"

namespace matte::sm90 {
#if __CUDA_ARCH_FEAT_SM90_ALL

/// A warp group's own place in the rings.
struct Consumer {
    const Sm90Args& args;
    const Shared& shared;
    const int group;
    Turn pixels, weights;

    /// Past the stages of a tile that the other warp group works on.
    __device__ void skipTile(int loads) {
        pixels.skip(loads, args.pixelStages);
        weights.skip(loads * args.stagesOfLoad, args.weightStages);
    }

    /// Split by depth, every second stage of weights is this warp group's.
    [[nodiscard]] __device__ bool ownsStage() const {
        return args.split != Split::depth || (weights.stage & 1) == group;
    }
};

/// The products of `taps` taps by steps `first` to `until` of a chunk's 16-channel steps. One run of instructions
/// without a branch: the compiler commits at the end of each, and a wait for all groups but one would wait for all.
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

/// Issues the products of one stage of weights. `tap`: the first of the stage, counted from the load's first; `column`:
/// of the filter, where a stage is one.
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
        // Folded, a column beside the middle one needs the end or the beginning of a chunk alone.
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

/// Whose turn it is when the warp groups take tiles in turn. A group starts on its tile once the other has seen the
/// last load of the tile before: it could take a stage's earlier load for its own otherwise.
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

/// One warp group's products for one tile of `loads` loads. A stage's operands are given back only after the products
/// of the stage that follows were issued, so that the tensor cores never wait for an instruction. `followed`: the block
/// has a tile after this one.
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
        // Also where none of its products are this group's: it could pass the same stage twice before the other has
        // passed it once.
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
