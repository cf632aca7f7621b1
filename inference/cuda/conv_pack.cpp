// SPDX-License-Identifier: Apache-2.0
#include <cuda_fp16.h>

#include <cstring>

#include "inference/cuda/conv.h"

namespace matte {
namespace {

constexpr int kTileRows = 64;

int ceilDiv(int value, int by) {
    return (value + by - 1) / by;
}

std::uint16_t halfBits(float value) {
    const __half half = __float2half_rn(value);
    std::uint16_t bits = 0;
    std::memcpy(&bits, &half, sizeof bits);
    return bits;
}

/// Which output channel and which of the filter's positions a row of the matrix stands for.
struct Row {
    int channel = 0, dx = 0, dy = 0;
    bool used = false;
};

Row rowAt(const ConvShape& shape, int tile, int rowInTile) {
    const int padded = paddedChannels(shape.outChannels);
    const int inRow = tile % shape.rowTiles() * kTileRows + rowInTile;
    Row row{inRow % padded, inRow / padded, tile / shape.rowTiles(), false};
    row.used = row.dy < shape.rows() && inRow < shape.rowChannels() && row.channel < shape.outChannels;
    return row;
}

/// Position of the weight in the filter's [out, in, k, k]. Tap t is column t / 3, row t % 3.
std::size_t weightIndex(const Filter& filter, const ConvShape& shape, const Row& row, int in, int tap) {
    const std::size_t pair = std::size_t(row.channel) * filter.inChannels + in;
    if (shape.kind == ConvKind::up2x2) return pair * 4 + row.dy * 2 + row.dx;
    return pair * 9 + tap % 3 * 3 + tap / 3;
}

}  // namespace

double ConvShape::flops() const {
    const double perPixel = 2.0 * (in0Channels + in1Channels) * outChannels;
    return perPixel * (kind == ConvKind::up2x2 ? 4 : 9) * batch * height * width;
}

PackedFilter packFilter(const Filter& filter, const ConvShape& shape, int chunk) {
    const int tiles = (shape.rowTiles() * shape.rows() + 1) / 2 * 2;
    const int chunks0 = ceilDiv(shape.in0Channels, chunk), chunks = chunks0 + ceilDiv(shape.in1Channels, chunk);
    PackedFilter packed;
    packed.weights.assign(std::size_t(tiles) * chunks * shape.taps() * kTileRows * chunk, 0);
    packed.bias.assign(std::size_t(tiles) * kTileRows, 0.0F);
    for (int tile = 0; tile < tiles; ++tile) {
        for (int r = 0; r < kTileRows; ++r) {
            const Row row = rowAt(shape, tile, r);
            if (!row.used) continue;
            packed.bias[std::size_t(tile) * kTileRows + r] = filter.bias[row.channel];
            for (int in = 0; in < filter.inChannels; ++in) {
                const bool second = in >= shape.in0Channels;
                const int channel = second ? in - shape.in0Channels : in;
                const int step = (second ? chunks0 : 0) + channel / chunk;
                const int piece = swizzledPiece(r, channel % chunk / 8, chunk * 2);
                for (int tap = 0; tap < shape.taps(); ++tap) {
                    const std::size_t block = (std::size_t(tile) * chunks + step) * shape.taps() + tap;
                    packed.weights[(block * kTileRows + r) * chunk + piece * 8 + channel % 8] =
                        halfBits(filter.weights[weightIndex(filter, shape, row, in, tap)]);
                }
            }
        }
    }
    return packed;
}

}  // namespace matte
