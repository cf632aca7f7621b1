// SPDX-License-Identifier: Apache-2.0
// The mma kernel's loads of pixels and weights into the ring buffers.
#pragma once

#include "inference/cuda/conv/conv_mma_tile.cuh"
#include "inference/cuda/device/ptx.cuh"

namespace matte::mma {

/// Loads chunk `k` of the tile's pixels with their border; zeros outside the picture and past the last channel.
template <typename S>
__device__ void loadChunk(const MmaArgs& args, const Tile& tile, int k, std::uint32_t to) {
    const bool second = k >= args.chunks0;
    const int channels = args.inChannels[second], first = (second ? k - args.chunks0 : k) * kChunk;
    const std::byte* image = args.in[second] + std::size_t(tile.batch) * args.height * args.width * channels * 2;
    for (int i = threadIdx.x; i < S::columnRows * S::pitch * kPieces; i += S::threads) {
        const int pixel = i / kPieces, piece = i % kPieces, column = pixel % S::pitch;
        const int y = tile.y - S::border + pixel / S::pitch, x = tile.x - S::border + column;
        const int channel = first + piece * 8;
        const bool valid = y >= 0 && y < args.height && x >= 0 && x < args.width && channel < channels;
        const std::size_t at = valid ? (std::size_t(y) * args.width + x) * channels + channel : 0;
        ptx::copyAsync16(to + pixel * kRowBytes + swizzledPiece(column, piece, kRowBytes) * 16, image + at * 2, valid);
    }
}

/// im2col: a row of 32 halves per pixel of the tile, tap t of channel c at 3 t + c, taps in column-major order.
template <typename S>
__device__ void gatherPixels(const MmaArgs& args, const Tile& tile, std::byte* to) {
    const std::byte* image = args.in[0] + std::size_t(tile.batch) * args.height * args.width * args.inChannels[0] * 2;
    for (int pixel = threadIdx.x; pixel < S::height * kTileWidth; pixel += S::threads) {
        const int column = pixel % kTileWidth;
        std::uint32_t halves[32] = {};
#pragma unroll
        for (int tap = 0; tap < 9; ++tap) {
            const int y = tile.y + pixel / kTileWidth + tap % 3 - 1, x = tile.x + column + tap / 3 - 1;
            if (y < 0 || y >= args.height || x < 0 || x >= args.width) continue;
            const std::size_t at = (std::size_t(y) * args.width + x) * args.inChannels[0];
            const uint2 four = *reinterpret_cast<const uint2*>(image + at * 2);
            halves[3 * tap] = four.x & 0xFFFF;
            halves[3 * tap + 1] = four.x >> 16;
            halves[3 * tap + 2] = four.y & 0xFFFF;
        }
#pragma unroll
        for (int piece = 0; piece < kPieces; ++piece) {
            const std::uint32_t* h = halves + piece * 8;
            *reinterpret_cast<uint4*>(to + pixel * kRowBytes + swizzledPiece(column, piece, kRowBytes) * 16) =
                make_uint4(h[0] | h[1] << 16, h[2] | h[3] << 16, h[4] | h[5] << 16, h[6] | h[7] << 16);
        }
    }
}

/// Loads the pixels of one group of steps.
template <typename S>
__device__ void loadPixels(const MmaArgs& args, const Tile& tile, int index, std::byte* shared) {
    std::byte* const to =
        shared + S::stages * S::weightBytes + index % S::pixelStages * S::chunksOfStep * S::pixelBytes;
    if constexpr (S::reads == Reads::gathered) {
        gatherPixels<S>(args, tile, to);
    } else {
#pragma unroll
        for (int i = 0; i < S::chunksOfStep; ++i) {
            // A chunk past the last loads zeros.
            loadChunk<S>(args, tile, index * S::chunksOfStep + i, ptx::sharedAddress(to) + i * S::pixelBytes);
        }
    }
}

template <typename S>
__device__ void loadWeights(const MmaArgs& args, const Tile& tile, int step, std::byte* shared) {
    constexpr int kStepBytes = S::blocks * kTileBytes;
    const std::uint32_t to = ptx::sharedAddress(shared) + step % S::stages * S::weightBytes;
#pragma unroll
    for (int i = threadIdx.x * 16; i < S::weightBytes; i += S::threads * 16) {
        const int block = step * S::blocks + i % kStepBytes / kTileBytes;
        const std::size_t tileBlock = std::size_t(tile.channelTile + i / kStepBytes) * args.blocks;
        const bool valid = block < args.blocks;
        ptx::copyAsync16(to + i, args.weights + (tileBlock + (valid ? block : 0)) * kTileBytes + i % kTileBytes, valid);
    }
}

}  // namespace matte::mma
