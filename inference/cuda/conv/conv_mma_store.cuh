// SPDX-License-Identifier: Apache-2.0
// The mma kernel's epilogue: residual, bias, ReLU and conversion to half, then through shared memory to the output and
// its 2x2 max pooling, or through the network's head to alpha.
#pragma once

#include "inference/cuda/conv/conv_mma_tile.cuh"
#include "inference/cuda/conv/head.cuh"

namespace matte::mma {

/// The first pixel and channel of a warp's sums within the tile.
template <typename S>
struct WarpOrigin {
    int pixel, channel;
    __device__ explicit WarpOrigin(int warp)
        : pixel(warp / S::warpsN * S::tilesM * 16), channel(warp % S::warpsN * S::tilesN * 8) {}
};

/// Adds the residual to the sums. No store separates the loads, so that all of them are in flight at once.
template <typename S>
__device__ void addTensor(float (&sums)[S::tilesM][S::tilesN][4], const MmaArgs& args, const Tile& tile) {
    const int lane = threadIdx.x % 32, firstChannel = tile.channelTile * kTileChannels;
    const WarpOrigin<S> first(threadIdx.x / 32);
    const std::size_t corner = (std::size_t(tile.batch) * args.height + tile.y) * args.width + tile.x;
    const __half* const from = reinterpret_cast<const __half*>(args.added) + corner * args.rowChannels + firstChannel;
#pragma unroll
    for (int i = 0; i < S::tilesM; ++i) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int pixel = first.pixel + i * 16 + half * 8 + lane / 4;
            const int x = pixel % kTileWidth, y = pixel / kTileWidth;
            const bool inside = tile.x + x < args.width && tile.y + y < args.height;
#pragma unroll
            for (int j = 0; j < S::tilesN; ++j) {
                const int channel = first.channel + j * 8 + lane % 4 * 2;
                const bool valid = inside && firstChannel + channel < args.rowChannels;
                const int at = valid ? (y * args.width + x) * args.rowChannels + channel : 0;
                const float2 two = __half22float2(*reinterpret_cast<const __half2*>(from + at));
                sums[i][j][2 * half] += two.x;  // invalid sums are never stored
                sums[i][j][2 * half + 1] += two.y;
            }
        }
    }
}

/// Writes sums plus bias, after ReLU, as halves to shared memory: [pixel][channel].
template <typename S>
__device__ void stage(const float (&sums)[S::tilesM][S::tilesN][4],
                      const MmaArgs& args,
                      const Tile& tile,
                      std::byte* staged) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (warp >= kGroupThreads / 32) return;
    const WarpOrigin<S> first(warp);
#pragma unroll
    for (int j = 0; j < S::tilesN; ++j) {
        const int channel = first.channel + j * 8 + lane % 4 * 2;
        const float2 bias = *reinterpret_cast<const float2*>(args.bias + tile.channelTile * kTileChannels + channel);
#pragma unroll
        for (int i = 0; i < S::tilesM; ++i) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                float low = sums[i][j][2 * half] + bias.x, high = sums[i][j][2 * half + 1] + bias.y;
                if (args.relu) {
                    low = fmaxf(low, 0.0F);
                    high = fmaxf(high, 0.0F);
                }
                const int pixel = first.pixel + i * 16 + half * 8 + lane / 4;
                *reinterpret_cast<__half2*>(staged + pixel * S::stagedRow + channel * 2) = __floats2half2_rn(low, high);
            }
        }
    }
}

__device__ inline uint4 max8(uint4 a, uint4 b) {
    uint4 result;
    const __half2 *x = reinterpret_cast<const __half2*>(&a), *y = reinterpret_cast<const __half2*>(&b);
    __half2* z = reinterpret_cast<__half2*>(&result);
#pragma unroll
    for (int i = 0; i < 4; ++i) z[i] = __hmax2(x[i], y[i]);
    return result;
}

/// The address of 8 output channels, or null past the end of the row. `tileChannel`: relative to the block's first.
__device__ inline std::byte* outputAt(const MmaArgs& args, const Tile& tile, int x, int y, int tileChannel) {
    const int channelTile = tile.channelTile + tileChannel / kTileChannels;
    const int row = channelTile / args.rowTiles;
    const int channel = channelTile % args.rowTiles * kTileChannels + tileChannel % kTileChannels;
    if (row >= args.rows || channel >= args.rowChannels) return nullptr;
    const std::size_t line = (std::size_t(tile.batch) * args.height + y) * args.rows + row;
    return args.out + ((line * args.width + x) * args.rowChannels + channel) * 2;
}

template <typename S, int channels>
__device__ void store(const MmaArgs& args, const Tile& tile, const std::byte* staged) {
    constexpr int kRowPieces = channels / 8;
    for (int i = threadIdx.x; i < S::height * kTileWidth * kRowPieces; i += S::threads) {
        const int pixel = i / kRowPieces, piece = i % kRowPieces;
        const int x = tile.x + pixel % kTileWidth, y = tile.y + pixel / kTileWidth;
        if (x >= args.width || y >= args.height) continue;
        std::byte* const to = outputAt(args, tile, x, y, piece * 8);
        if (to)
            *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(staged + pixel * S::stagedRow + piece * 16);
    }
}

template <typename S, int channels>
__device__ void storePooled(const MmaArgs& args, const Tile& tile, const std::byte* staged) {
    constexpr int kRowPieces = channels / 8, kWidth = kTileWidth / 2;
    for (int i = threadIdx.x; i < S::height / 2 * kWidth * kRowPieces; i += S::threads) {
        const int pixel = i / kRowPieces, piece = i % kRowPieces;
        const int px = pixel % kWidth, py = pixel / kWidth, x = tile.x / 2 + px, y = tile.y / 2 + py;
        const int channel = tile.channelTile * kTileChannels + piece * 8;
        if (x >= args.width / 2 || y >= args.height / 2 || channel >= args.rowChannels) continue;
        const auto at = [&](int dx, int dy) {
            const int from = (2 * py + dy) * kTileWidth + 2 * px + dx;
            return *reinterpret_cast<const uint4*>(staged + from * S::stagedRow + piece * 16);
        };
        const std::size_t line = std::size_t(tile.batch) * (args.height / 2) + y;
        *reinterpret_cast<uint4*>(args.pooled + ((line * (args.width / 2) + x) * args.rowChannels + channel) * 2) =
            max8(max8(at(0, 0), at(1, 0)), max8(at(0, 1), at(1, 1)));
    }
}

/// Computes alpha of the tile's pixels with the network's head; two threads per pixel.
template <typename S>
__device__ void storeAlpha(const MmaArgs& args, const Tile& tile, const std::byte* staged) {
    for (int i = threadIdx.x; i < S::height * kTileWidth * 2; i += S::threads) {
        const int pixel = i / 2, half = i % 2, x = tile.x + pixel % kTileWidth, y = tile.y + pixel / kTileWidth;
        float sum = 0;
#pragma unroll
        for (int piece = half * 4; piece < half * 4 + 4; ++piece) {
            sum += dot8(*reinterpret_cast<const uint4*>(staged + pixel * S::stagedRow + piece * 16),
                        args.head.weights + piece * 8);
        }
        sum += __shfl_xor_sync(0xFFFFFFFF, sum, 1);
        if (half == 1 || x >= args.width || y >= args.height) continue;
        args.head.alpha[(std::size_t(tile.batch) * args.height + y) * args.width + x] = sigmoid(sum + *args.head.bias);
    }
}

}  // namespace matte::mma
