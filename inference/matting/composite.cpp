// SPDX-License-Identifier: Apache-2.0
#include "inference/matting/composite.h"

#include <algorithm>
#include <cstring>

#include "inference/core/error.h"
#include "inference/core/parallel.h"
#include "inference/core/vector_clones.h"
#include "inference/matting/composite_pixel.h"
#include "inference/matting/guided_filter.h"
#include "inference/matting/transfer.h"

namespace matte {
namespace {

using Tap = Compositor::Tap;

/// For each of `pixels` along an axis, the points of the coefficients around what is seen there; beyond the
/// coefficients' edge the edge goes on.
void findTaps(int points, int pixels, float per, float from, std::vector<Tap>& taps) {
    taps.resize(std::size_t(pixels));
    for (int i = 0; i < pixels; ++i) {
        const double seen = seenAt(per, from, i, pixels);
        const double at = std::clamp((seen + 0.5) * points / pixels - 0.5, 0.0, double(points - 1));
        const int first = int(at);
        taps[std::size_t(i)] = {first, std::min(first + 1, points - 1), float(at - first)};
    }
}

MATTE_EXACT_CLONES void mixRows(const float* above, const float* below, float amount, std::size_t count, float* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = mix(above[i], below[i], amount);
}

/// One row of the coefficients at the pixels of one row of the picture, linearly between the coefficients' points.
struct GuidedRow {
    const float* row;
    const Tap* across;

    void sample(int x, int channel, int count, float* out) const {
        const Tap tap = across[x];
        const float* left = row + std::ptrdiff_t(tap.first) * guided::kChannels + channel;
        const float* right = row + std::ptrdiff_t(tap.second) * guided::kChannels + channel;
        for (int c = 0; c < count; ++c) out[c] = mix(left[c], right[c], tap.amount);
    }
    [[nodiscard]] Color color(int x, int channel) const {
        float out[3];
        sample(x, channel, 3, out);
        return {out[0], out[1], out[2]};
    }
    [[nodiscard]] float alpha(int x, Rgba pixel) const {
        struct {
            float x, y, z, w;
        } coefficients;
        sample(x, guided::kCoefficients, 4, &coefficients.x);
        return guidedAlpha(coefficients, pixel);
    }
};

Color linearOf(Rgba pixel) {
    const auto& linear = transfer().linear;
    return {linear[pixel.r], linear[pixel.g], linear[pixel.b]};
}

Rgba pixelAt(const std::uint8_t* rgba, int x) {
    Rgba pixel;
    std::memcpy(&pixel, rgba + std::ptrdiff_t(4) * x, 4);
    return pixel;
}

/// One row of the picture: its pixels and the coefficients where the person stands, and as the camera saw it the
/// coefficients; the background picture, null where that is none.
struct Row {
    const std::uint8_t* rgba;
    GuidedRow guided, room;
    const std::uint8_t* plate;
};

/// What compositePixel() asks for at pixel x of a row.
struct RowPixel {
    const Row& row;
    const ResolvedParams& params;
    int x;

    [[nodiscard]] float alpha(Rgba pixel) const { return row.guided.alpha(x, pixel); }
    [[nodiscard]] Color foreground() const { return row.guided.color(x, guided::kForeground); }
    [[nodiscard]] Color background() const { return row.guided.color(x, guided::kBackground); }
    [[nodiscard]] Color wrap() const { return row.guided.color(x, guided::kWrap); }
    [[nodiscard]] Color behind() const {
        if (params.isBlurred()) return row.room.color(x, guided::kBlurred);
        if (row.plate) return linearOf(pixelAt(row.plate, x));
        return {params.color[0], params.color[1], params.color[2]};
    }
    [[nodiscard]] static Color linear(Rgba pixel) { return linearOf(pixel); }
    [[nodiscard]] static std::uint8_t encode(float linear) { return transfer().encode(linear); }
};

constexpr int kBlock = 64;

/// Transfer::stepOf() of each; the values are cut to 0 to 1. In one loop the compiler would make branches of it.
MATTE_EXACT_CLONES void findSteps(float* values, int count, int* steps) {
    for (int i = 0; i < count; ++i) values[i] = std::min(std::max(0.0F, values[i]), 1.0F);
    for (int i = 0; i < count; ++i) steps[i] = int(values[i] * Transfer::kSteps + 0.5F);
}

/// In steps of a loop each that the processor's vectors can take.
void blurredAlone(const GuidedRow& room, int begin, int end, std::uint8_t* out) {
    const std::uint8_t* encoded = transfer().encoded.data();
    float colors[4 * kBlock];
    int steps[4 * kBlock];
    for (; begin < end; begin += kBlock) {
        const int count = std::min(kBlock, end - begin);
        // Four of the coefficients' channels make one vector; the fourth is not looked at.
        for (int i = 0; i < count; ++i) {
            float color[4];
            room.sample(begin + i, guided::kBlurred, 4, color);
            std::copy_n(color, 4, colors + std::ptrdiff_t(4) * i);
        }
        findSteps(colors, 4 * count, steps);
        std::uint8_t* pixel = out + std::ptrdiff_t(4) * begin;
        for (int i = 0; i < count; ++i, pixel += 4) {
            for (int c = 0; c < 3; ++c) pixel[c] = encoded[steps[4 * i + c]];
            pixel[3] = 255;
        }
    }
}

/// The pixels [begin, end) of a row where nobody stands; `out` is the row's first.
void backgroundAlone(const Row& row, const ResolvedParams& params, int begin, int end, std::uint8_t* out) {
    if (params.isTransparent()) {
        std::fill(out + 4 * begin, out + 4 * end, std::uint8_t(0));
    } else if (params.isBlurred()) {
        blurredAlone(row.room, begin, end, out);
    } else if (row.plate) {
        std::memcpy(out + 4 * begin, row.plate + 4 * begin, std::size_t(4) * std::size_t(end - begin));
        for (int x = begin; x < end; ++x) out[4 * x + 3] = 255;
    } else {
        const Transfer& tables = transfer();
        const Rgba pixel{tables.encode(params.color[0]), tables.encode(params.color[1]), tables.encode(params.color[2]),
                         255};
        for (int x = begin; x < end; ++x) std::memcpy(out + 4 * x, &pixel, 4);
    }
}

/// `labels` are those of the coefficients' points above.
void compositeRow(
    const Row& row, const TrimapLabel* labels, int width, const ResolvedParams& params, std::uint8_t* out) {
    const auto labelAt = [&](int x) { return labels[row.guided.across[x].first]; };
    for (int begin = 0, end = 0; begin < width; begin = end) {
        const TrimapLabel label = labelAt(begin);
        while (end < width && labelAt(end) == label) ++end;
        const std::ptrdiff_t first = std::ptrdiff_t(4) * begin;
        if (label == TrimapLabel::background) {
            backgroundAlone(row, params, begin, end, out);
        } else if (label == TrimapLabel::foreground && isOpaque(row.rgba + first, end - begin)) {
            std::memcpy(out + first, row.rgba + first, std::size_t(4) * std::size_t(end - begin));
        } else {
            for (int x = begin; x < end; ++x) {
                const Rgba pixel = compositePixel(RowPixel{row, params, x}, params, pixelAt(row.rgba, x));
                std::memcpy(out + 4 * x, &pixel, 4);
            }
        }
    }
}

}  // namespace

void Compositor::prepare(Size points, Size picture, const InverseMapping& mapping) {
    const auto workers = std::size_t(threads());
    if (points == points_ && picture == picture_ && mapping == mapping_ && workers_.size() >= workers) return;
    const InverseMapping room = inverseMapping(mapping.perX < 0, 1, 0, 0);
    asSeen_ = mapping == InverseMapping{};
    isMoved_ = mapping != room;
    findTaps(points.width, picture.width, mapping.perX, mapping.fromX, across_);
    findTaps(points.height, picture.height, mapping.perY, mapping.fromY, down_);
    findTaps(points.width, picture.width, room.perX, room.fromX, roomAcross_);
    findTaps(points.height, picture.height, room.perY, room.fromY, roomDown_);
    workers_.resize(workers);
    for (Worker& worker : workers_) {
        worker.guided.resize(std::size_t(points.width) * guided::kChannels);
        if (isMoved_) worker.room.resize(worker.guided.size());
        worker.rgba.resize((std::size_t(picture.width) + 1) * 4);
        if (!asSeen_) worker.placed.prepare(picture, mapping);
    }
    points_ = points;
    picture_ = picture;
    mapping_ = mapping;
}

constexpr int kRowsAtOnce = 16;

/// Runs `work(y, row)` for every row of a picture on all threads, stopping early when asked to.
template <typename RowWork>
void Compositor::forEachRow(const ImageView& source,
                            const Planes& guided,
                            const Image* plate,
                            const std::stop_token& stop,
                            const RowWork& work) {
    parallelFor(source.size.height, kRowsAtOnce, [&](int first, int last, int index) {
        Worker& worker = workers_[std::size_t(index)];
        const GuidedRow guidedRow{worker.guided.data(), across_.data()};
        const GuidedRow room = isMoved_ ? GuidedRow{worker.room.data(), roomAcross_.data()} : guidedRow;
        const auto mixGuided = [&](const Tap& tap, std::vector<float>& out) {
            mixRows(guided.row(tap.first), guided.row(tap.second), tap.amount, out.size(), out.data());
        };
        for (int y = first; y < last; ++y) {
            if (stop.stop_requested()) throw Cancelled{};
            mixGuided(down_[std::size_t(y)], worker.guided);
            if (isMoved_) mixGuided(roomDown_[std::size_t(y)], worker.room);
            const auto* rgba = asSeen_ ? rgbaRow(source, y, worker.rgba.data()) : worker.placed.row(source, y);
            work(y, Row{rgba, guidedRow, room, plate ? plate->row(y) : nullptr});
        }
    });
}

void Compositor::over(const ImageView& source,
                      const Planes& guided,
                      const ResolvedParams& params,
                      const Image* plate,
                      const std::stop_token& stop,
                      Image& out) {
    prepare(guided.size, source.size, params.mapping);
    trimap_.find(guided, params.edge, params.isLit());
    forEachRow(source, guided, plate, stop, [&](int y, const Row& row) {
        compositeRow(row, trimap_.row(down_[std::size_t(y)].first), source.size.width, params, out.row(y));
    });
}

void Compositor::matte(
    const ImageView& source, const Planes& guided, const Edge& edge, const std::stop_token& stop, Image& out) {
    prepare(guided.size, source.size, {});
    forEachRow(source, guided, nullptr, stop, [&](int y, const Row& row) {
        for (int x = 0; x < source.size.width; ++x) {
            const Rgba pixel = pixelAt(row.rgba, x);
            out.row(y)[x] = mattePixel(row.guided.alpha(x, pixel), edge, pixel);
        }
    });
}

}  // namespace matte
