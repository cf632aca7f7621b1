// SPDX-License-Identifier: Apache-2.0
// Definitions shared by the warps of an sm90 block: the block's tiles, the layout of shared memory, and positions in
// ring buffers.
#pragma once

#include "inference/cuda/conv/conv_sm90.h"
#include "inference/cuda/device/ptx.cuh"

namespace matte::sm90 {

constexpr int kGroupThreads = 128, kGroupWarps = 4;
constexpr int kTileChannels = 64;

/// Named barriers (0 is __syncthreads()): one per warp group (1, 2), one for exchangeRounds(), one per turn (4, 5).
enum Barrier { kGroupBarrier = 1, kExchangeBarrier = 3, kTurnBarrier = 4 };

struct Tile {
    int channelTile, x, y, batch;
};

__device__ inline Tile tileAt(const Sm90Args& args, int index) {
    Tile tile;
    tile.channelTile = index % args.tilesC * args.weightTiles;
    index /= args.tilesC;
    tile.x = index % args.tilesX * args.tileWidth;
    index /= args.tilesX;
    tile.y = index % args.tilesY * args.tileHeight;
    tile.batch = index / args.tilesY;
    return tile;
}

/// The block's share of the work: every `step`th tile from `first`, and of each tile `loads` loads from `firstLoad`.
struct Work {
    int first, step, firstLoad, loads, rank;
    __device__ explicit Work(const Sm90Args& args)
        : first(int(blockIdx.x) / args.cluster),
          step(int(gridDim.x) / args.cluster),
          rank(int(blockIdx.x) % args.cluster) {
        firstLoad = rank * args.loads / args.cluster;
        loads = (rank + 1) * args.loads / args.cluster - firstLoad;
    }
};

/// A position in a ring buffer of stages, with the parity of the round.
struct Turn {
    int stage = 0;
    std::uint32_t phase = 0;
    __device__ void next(int stages) {
        if (++stage == stages) {
            stage = 0;
            phase ^= 1;
        }
    }
    __device__ void skip(int count, int stages) {
        stage += count;
        phase ^= std::uint32_t(stage / stages) & 1;
        stage %= stages;
    }
};

/// Shared-memory addresses.
struct Shared {
    std::uint32_t pixels, weights, weightBytes, scratch, barriers;
    __device__ std::uint32_t pixelFull(int stage) const { return barriers + stage * 8; }
    __device__ std::uint32_t pixelEmpty(int stage) const { return pixelFull(Sm90Memory::kMaxStages + stage); }
    __device__ std::uint32_t weightFull(int stage) const { return pixelFull(2 * Sm90Memory::kMaxStages + stage); }
    __device__ std::uint32_t weightEmpty(int stage) const { return pixelFull(3 * Sm90Memory::kMaxStages + stage); }
    /// Completes when the sums of the cluster's other warp groups have arrived.
    __device__ std::uint32_t sumsFull() const { return pixelFull(4 * Sm90Memory::kMaxStages); }
};

/// Bytes of the weights of 64 output channels for one tap of one chunk.
template <int chunk>
constexpr int kTapBytes = kTileChannels* chunk * 2;

#if __CUDA_ARCH_FEAT_SM90_ALL

template <int chunk>
__device__ Shared sharedLayout(const Sm90Args& args, std::uint32_t raw) {
    Shared at;
    at.pixels = (raw + Sm90Memory::kAlignment - 1) / Sm90Memory::kAlignment * Sm90Memory::kAlignment;
    at.weights = at.pixels + args.pixelStages * args.pixelStride;
    at.weightBytes = args.weightTiles * args.stageTaps * kTapBytes<chunk>;
    at.scratch = at.weights + args.weightStages * at.weightBytes;
    at.barriers = at.scratch + 2 * args.scratchBytes;
    return at;
}

__device__ inline void initBarriers(const Sm90Args& args, const Shared& shared) {
    const bool turns = args.split == Split::tiles, alone = turns || args.split == Split::depth;
    for (int i = 0; i < args.pixelStages; ++i) {
        ptx::barrierInit(shared.pixelFull(i), 1);
        ptx::barrierInit(shared.pixelEmpty(i), turns ? kGroupWarps : 2 * kGroupWarps);
    }
    for (int i = 0; i < args.weightStages; ++i) {
        ptx::barrierInit(shared.weightFull(i), 1);
        ptx::barrierInit(shared.weightEmpty(i), alone ? kGroupWarps : 2 * kGroupWarps);
    }
    ptx::barrierInit(shared.sumsFull(), 1);
    ptx::barrierInitFence();
}
#endif

}  // namespace matte::sm90
