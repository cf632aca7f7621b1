// SPDX-License-Identifier: Apache-2.0
// Definitions shared by the parts of the mma kernel: arguments, tile and block geometry.
#pragma once

#include <algorithm>

#include "inference/cuda/conv/conv.h"

namespace matte::mma {

constexpr int kGroupThreads = 128, kTileWidth = 16, kChunk = 32, kRowBytes = kChunk * 2, kPieces = kRowBytes / 16;
constexpr int kTileChannels = 64, kTileBytes = kTileChannels * kRowBytes;

/// Input of a tile: its pixels with a one-pixel border (3x3); its pixels alone (1x1, up2x2); or one im2col chunk with
/// nine taps of up to three channels.
enum class Reads { window = 1, pixels, gathered };

struct MmaArgs {
    const std::byte* in[2];
    std::byte* out;
    std::byte* pooled;
    const std::byte* weights;
    const float* bias;
    const std::byte* added;  // residual, or null
    Head head;
    bool relu;
    int height, width;
    int inChannels[2];
    int chunks0, chunks;
    int blocks;  // weight blocks per channel tile: chunks times taps
    int rows, rowTiles, rowChannels;
    int tilesX, tilesY, tilesC;
};

struct Tile {
    int x, y, batch, channelTile;
};

/// A block's geometry: warpsM x warpsN warps cover the tile, each with 16 tilesM pixels by 8 tilesN channels. With two
/// groups of warps each group multiplies half of every chunk's channels, and their sums are added at the end: for
/// layers with few tiles, more warps hide latency.
template <int pixels, int channels, Reads kind, int groupCount>
struct Shape {
    static constexpr int groups = groupCount, threads = groups * kGroupThreads;
    static constexpr Reads reads = kind;
    static constexpr int height = pixels / kTileWidth;
    static constexpr int warpsN = pixels >= 2 * channels ? 1 : 2, warpsM = 4 / warpsN;
    static constexpr int tilesM = pixels / warpsM / 16, tilesN = channels / warpsN / 8;
    static constexpr int border = reads == Reads::window ? 1 : 0;
    static constexpr int pitch = kTileWidth + 2 * border, columnRows = height + 2 * border;
    static constexpr int pixelBytes = columnRows * pitch * kRowBytes;  // per chunk
    // Blocks of 64 x 32 weights per step and channel tile: a column of taps, or chunks.
    static constexpr int blocks = reads == Reads::window ? 3 : reads == Reads::pixels ? 2 : 1;
    static constexpr int chunksOfStep = reads == Reads::pixels ? 2 : 1;
    static constexpr int weightBytes = channels / kTileChannels * blocks * kTileBytes;
    // Small tiles finish a step before the next one's weights arrive, so they prefetch two steps ahead.
    static constexpr int stages = reads == Reads::gathered ? 1 : pixels * channels <= 64 * 64 ? 3 : 2;
    static constexpr int lead = std::max(stages - 1, 1);
    static constexpr int pixelStages = reads == Reads::window ? 2 : stages;
    static constexpr int stagedRow = channels * 2 + 16;  // bytes; the padding avoids bank conflicts
    static constexpr int ringBytes = stages * weightBytes + pixelStages * chunksOfStep * pixelBytes;
    static constexpr int sumBytes = (groups - 1) * pixels * channels * 4;  // the second group's sums
    static constexpr int sharedBytes = std::max({ringBytes, pixels* stagedRow, sumBytes});
};

}  // namespace matte::mma
