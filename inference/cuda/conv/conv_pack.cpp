// SPDX-License-Identifier: Apache-2.0
#include <cuda_fp16.h>

#include <cstring>

#include "inference/cuda/conv/conv.h"

namespace matte {
namespace {

constexpr int kTileRows = 64, kGatheredStride = 3;

int floorDiv(int value, int by) {
    return value >= 0 ? value / by : -ceilDiv(-value, by);
}

/// Which output channel and which of the filter's positions a row of the matrix stands for, and for which of the pixels
/// that are folded into one.
struct Row {
    int channel = 0, dx = 0, dy = 0, pixel = 0;
    bool used = false;
};

/// Rows as the tensor has its channels.
Row plainRow(const ConvShape& shape, int tile, int rowInTile) {
    const int padded = paddedChannels(shape.outChannels);
    const int inRow = tile % shape.rowTiles() * kTileRows + rowInTile;
    Row row{inRow % padded, inRow / padded, tile / shape.rowTiles(), 0, false};
    row.used = row.dy < shape.rows() && inRow < shape.rowChannels() && row.channel < shape.outChannels;
    return row;
}

/// Rows of one tile that holds `fold` pixels: of each 16, which one warp has, 8 belong to a pixel and 8 to the next.
Row foldedRow(const ConvShape& shape, int fold, int tile, int rowInTile) {
    const int position = foldedPiece(rowInTile / 16, rowInTile / 8 % 2, fold * shape.rows()) * 8 + rowInTile % 8;
    const int padded = paddedChannels(shape.outChannels), pixel = position / shape.rowChannels();
    Row row{position % padded, position / padded % shape.rows(), tile, pixel, false};
    row.used = tile < shape.rows() && row.channel < shape.outChannels;
    return row;
}

/// A weight's place along the depth of the matrix product: which chunk, which channel of it, which tap.
struct Place {
    int chunk = 0, channel = 0, tap = 0;
};

class Packer {
public:
    Packer(const ConvShape& shape, const ConvConfig& config) : shape_(shape), config_(config) {
        floats_ = config.kernel == ConvKernel::fp32;
        taps_ = config.gathered ? 1 : shape.taps();
        const ConvShape seen = shape.folded(config.fold);
        // Floats come in whole chunks of the padded channels, which are as many.
        chunks0_ = config.gathered ? 1 : ceilDiv(seen.in0Channels, config.chunk);
        chunks_ = chunks0_ + ceilDiv(seen.in1Channels, config.chunk);
        const int tiles = seen.rowTiles() * seen.rows();
        tiles_ = floats_ ? tiles : (tiles + 1) / 2 * 2;
        packed_.bias.assign(std::size_t(tiles_) * kTileRows, 0.0F);
        packed_.weights.assign(
            std::size_t(tiles_) * chunks_ * taps_ * kTileRows * config.chunk * valueBytes(config.kernel), {});
    }

    PackedFilter pack(const Filter& filter) {
        const int filterTaps = shape_.taps(), side = filter.side();
        for (int tile = 0; tile < tiles_; ++tile) {
            for (int r = 0; r < kTileRows; ++r) {
                const Row row = config_.fold > 1 ? foldedRow(shape_, config_.fold, tile, r) : plainRow(shape_, tile, r);
                if (!row.used) continue;
                packed_.bias[std::size_t(tile) * kTileRows + r] = filter.bias[row.channel];
                for (int in = 0; in < filter.inChannels; ++in) {
                    for (int tap = 0; tap < filterTaps; ++tap) {
                        const std::size_t pair = std::size_t(row.channel) * filter.inChannels + in;
                        const int y = side == 2 ? row.dy : tap / 3, x = side == 2 ? row.dx : tap % 3;
                        store(tile, r, placeOf(in, y, x, row.pixel), filter.weights[(pair * side + y) * side + x]);
                    }
                }
            }
        }
        return std::move(packed_);
    }

private:
    /// Of the weight by which input channel `in` at the filter's (x, y) counts for the folded pixel `pixel`.
    [[nodiscard]] Place placeOf(int in, int y, int x, int pixel) const {
        const bool second = in >= shape_.in0Channels;
        const int channel = second ? in - shape_.in0Channels : in;
        if (config_.gathered) return {0, (x * 3 + y) * kGatheredStride + channel, 0};
        const int from = taps_ == 9 ? pixel + x - 1 : pixel;  // of the folded pixels, their neighbours' included
        const int column = floorDiv(from, config_.fold);
        const int inRow =
            (from - column * config_.fold) * paddedChannels(second ? shape_.in1Channels : shape_.in0Channels) + channel;
        Place place{(second ? chunks0_ : 0) + inRow / config_.chunk, inRow % config_.chunk, 0};
        if (taps_ == 9) place.tap = floats_ ? y * 3 + x : (column + 1) * 3 + y;
        return place;
    }

    void store(int tile, int row, const Place& place, float weight) {
        const std::size_t chunk = std::size_t(tile) * chunks_ + place.chunk;
        if (floats_) {
            const std::size_t at = ((chunk * config_.chunk + place.channel) * taps_ + place.tap) * kTileRows + row;
            std::memcpy(packed_.weights.data() + at * sizeof weight, &weight, sizeof weight);
            return;
        }
        const int piece = swizzledPiece(row, place.channel / 8, config_.chunk * 2);
        const std::size_t at =
            ((chunk * taps_ + place.tap) * kTileRows + row) * config_.chunk + piece * 8 + place.channel % 8;
        const __half half = __float2half_rn(weight);
        std::memcpy(packed_.weights.data() + at * sizeof half, &half, sizeof half);
    }

    ConvShape shape_;
    ConvConfig config_;
    bool floats_ = false;
    int taps_ = 0, chunks0_ = 0, chunks_ = 0, tiles_ = 0;
    PackedFilter packed_;
};

/// As the direct kernel reads them; `convert` to its values.
template <typename T>
PackedFilter packDirect(const Filter& filter, T (*convert)(float)) {
    const int padded = paddedChannels(filter.outChannels), taps = filter.side() * filter.side();
    std::vector<T> weights(std::size_t(taps) * filter.inChannels * padded, convert(0.0F));
    const std::size_t pairs = std::size_t(filter.outChannels) * filter.inChannels;
    for (std::size_t pair = 0; pair < pairs; ++pair) {
        const std::size_t out = pair / filter.inChannels, in = pair % filter.inChannels;
        for (int tap = 0; tap < taps; ++tap) {
            weights[(std::size_t(tap) * filter.inChannels + in) * padded + out] =
                convert(filter.weights[pair * taps + tap]);
        }
    }
    PackedFilter packed{std::vector<std::byte>(weights.size() * sizeof(T)), filter.bias};
    std::memcpy(packed.weights.data(), weights.data(), packed.weights.size());
    packed.bias.resize(std::size_t(padded), 0.0F);
    return packed;
}

}  // namespace

double ConvShape::flops() const {
    const double inputs = kind == ConvKind::depthwise ? 1 : in0Channels + in1Channels;
    const int positions = kind == ConvKind::depthwise ? side * side : taps();
    return 2.0 * inputs * outChannels * positions * batch * outHeight() * outWidth();
}

ConvShape ConvShape::folded(int by) const {
    ConvShape shape = *this;
    if (by == 1) return shape;
    shape.width /= by;
    shape.widthMultiple /= by;
    shape.in0Channels = paddedChannels(in0Channels) * by;
    shape.in1Channels = paddedChannels(in1Channels) * by;
    shape.outChannels = paddedChannels(outChannels) * by;
    return shape;
}

PackedFilter packFilter(const Filter& filter, const ConvShape& shape, const ConvConfig& config) {
    if (!shape.direct()) return Packer(shape, config).pack(filter);
    return config.kernel == ConvKernel::fp32 ? packDirect<float>(filter, [](float weight) { return weight; })
                                             : packDirect<__half>(filter, __float2half_rn);
}

}  // namespace matte
