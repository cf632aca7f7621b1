// SPDX-License-Identifier: Apache-2.0
// The sm90 kernel as its launch sees it: what it is told (Sm90Args), how a configuration divides shared memory
// (Sm90Memory), and its instances. Any thread.
//
//     const Sm90Memory memory = sm90Memory(shape, config);  // of a folded shape
//     if (memory.fits()) cudaLaunchKernelExC(&launch, sm90KernelFor(config), arguments);
#pragma once

#include <cuda.h>

#include "inference/cuda/conv/conv.h"

namespace matte {

/// 16-byte pieces of a descriptor's address.
constexpr int kDescriptorUnit = 16;

struct Sm90Args {
    CUtensorMap in[2], out, pooled;
    const std::byte* weights;
    const float* bias;
    Head head;
    int width, height;  // of the layer, folded
    Split split;
    bool relu, pool;
    int fold;
    int units;    // that share an output row of 64 channels; 1: rows in the channels' order
    int chunks0;  // of the first input
    int loads;    // of pixels for a tile
    int loadsOfChunk;
    int stageTaps;     // of a stage of weights
    int stagesOfLoad;  // of weights that a load of pixels serves
    int cluster;       // blocks that share a tile's depth
    int firstX, firstY;
    int tileWidth, tileHeight, tilesX, tilesY, tilesC, tiles;
    int rowTiles;     // channel tiles in an output row
    int weightTiles;  // channel tiles of a block: 1 or 2
    int pixelStages, pixelStride, pixelBytes, weightStages;
    int groupStride;       // bytes between groups of 8 pixels
    int secondGroupBytes;  // where the second warp group's pixels begin
    int scratchBytes;      // of a warp group
    int tapUnits[9];       // where a tap's pixels begin in a load, in kDescriptorUnit
    int neighbourSteps;    // 16-channel steps of a chunk that a folded column beside the middle one needs; 0: all
};

/// The kernel's shared memory: rings of pixels and weights, and each warp group's scratch.
struct Sm90Memory {
    static constexpr int kMostBytes = 227 * 1024;  // of a block
    static constexpr int kMaxStages = 12, kAlignment = 1024, kBarrierBytes = (4 * kMaxStages + 1) * 8;
    int pixelBytes = 0, pixelStride = 0, pixelStages = 0;
    int weightStages = 0;
    int scratchBytes = 0;
    int sharedBytes = 0;
    int blocks = 0;  ///< that a multiprocessor can hold; 0: none
    [[nodiscard]] bool fits() const { return blocks > 0; }
};
Sm90Memory sm90Memory(const ConvShape& shape, const ConvConfig& config);

/// Every configuration of the kernel, and the clock cycles that a layer should take by one. Of folded shapes but for
/// `sm90Configs`.
std::vector<ConvConfig> sm90Configs(const ConvShape& shape);
double sm90Cycles(const ConvShape& shape, const ConvConfig& config, const DeviceFacts& device);

/// Small tiles leave registers for two blocks on a multiprocessor: the next layer then waits beside the last one, its
/// weights loaded. The largest need all of them, taken from a whole warp group of producers.
constexpr int sm90Blocks(int pixels) {
    return pixels <= 128 ? 2 : 1;
}
constexpr int sm90Threads(int pixels) {
    return sm90Blocks(pixels) == 2 ? 320 : 384;
}
/// The kernel's instance, which takes an Sm90Args.
const void* sm90KernelFor(const ConvConfig& config);

}  // namespace matte
