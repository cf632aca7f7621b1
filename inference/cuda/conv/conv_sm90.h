// SPDX-License-Identifier: Apache-2.0
// The sm90 kernel's interface to its launch code: arguments (Sm90Args), shared-memory layout (Sm90Memory) and template
// instances. Any thread.
//
//     const Sm90Memory memory = sm90Memory(shape, config);  // of a folded shape
//     if (memory.fits()) cudaLaunchKernelExC(&launch, sm90KernelFor(config), arguments);
#pragma once

#include <cuda.h>

#include "inference/cuda/conv/conv.h"

namespace matte {

/// The unit of addresses in a wgmma descriptor, in bytes.
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
    int units;    // for foldedPiece(); 1: rows in channel order
    int chunks0;  // chunks of the first input
    int loads;    // pixel loads per tile
    int loadsOfChunk;
    int stageTaps;     // taps per stage of weights
    int stagesOfLoad;  // stages of weights per pixel load
    int cluster;       // blocks that split a tile's depth
    int firstX, firstY;
    int tileWidth, tileHeight, tilesX, tilesY, tilesC, tiles;
    int rowTiles;     // channel tiles per output row
    int weightTiles;  // channel tiles per block: 1 or 2
    int pixelStages, pixelStride, pixelBytes, weightStages;
    int groupStride;       // bytes between groups of 8 pixels
    int secondGroupBytes;  // offset of the second warp group's pixels
    int scratchBytes;      // per warp group
    int tapUnits[9];       // offset of each tap's pixels in a load, in units of kDescriptorUnit
    int neighbourSteps;    // folded: 16-channel steps of a chunk that the outer filter columns need; 0: all
};

/// The kernel's shared memory: ring buffers of pixels and of weights, and scratch per warp group.
struct Sm90Memory {
    static constexpr int kMostBytes = 227 * 1024;  // per block
    static constexpr int kMaxStages = 12, kAlignment = 1024, kBarrierBytes = (4 * kMaxStages + 1) * 8;
    int pixelBytes = 0, pixelStride = 0, pixelStages = 0;
    int weightStages = 0;
    int scratchBytes = 0;
    int sharedBytes = 0;
    int blocks = 0;  ///< resident blocks per multiprocessor; 0: does not fit
    [[nodiscard]] bool fits() const { return blocks > 0; }
};
Sm90Memory sm90Memory(const ConvShape& shape, const ConvConfig& config);

/// All configurations of the kernel for an unfolded shape, and the estimated clock cycles of a folded shape.
std::vector<ConvConfig> sm90Configs(const ConvShape& shape);
double sm90Cycles(const ConvShape& shape, const ConvConfig& config, const DeviceFacts& device);

/// Resident blocks per multiprocessor. With small tiles registers suffice for two: the next layer's block then loads
/// its weights while the previous layer finishes. The largest tiles need registers from a whole warp group of
/// producers.
constexpr int sm90Blocks(int pixels) {
    return pixels <= 128 ? 2 : 1;
}
constexpr int sm90Threads(int pixels) {
    return sm90Blocks(pixels) == 2 ? 320 : 384;
}
/// The kernel's instance for `config`; its argument is an Sm90Args.
const void* sm90KernelFor(const ConvConfig& config);

}  // namespace matte
