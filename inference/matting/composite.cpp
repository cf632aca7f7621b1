// SPDX-License-Identifier: Apache-2.0
#include "inference/matting/composite.h"

#include <algorithm>
#include <cstring>

#include "inference/core/error.h"
#include "inference/core/parallel.h"
#include "inference/core/vector_clones.h"
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
    [[nodiscard]] float alpha(int x, const std::uint8_t* rgb) const {
        float coefficients[4];
        sample(x, guided::kCoefficients, 4, coefficients);
        constexpr float kScale = 1.0F / 255;
        return clampUnit(coefficients[0] * kScale * float(rgb[0]) + coefficients[1] * kScale * float(rgb[1]) +
                         coefficients[2] * kScale * float(rgb[2]) + coefficients[3]);
    }
};

/// The person's colour at a pixel, in linear light.
void personColor(const GuidedRow& guidedRow, int x, const float* mixed, float alpha, float* color) {
    float sides[6];
    guidedRow.sample(x, guided::kForeground, 6, sides);
    for (int c = 0; c < 3; ++c) color[c] = foregroundColor(mixed[c], alpha, sides[c], sides[3 + c]);
}

/// What stands behind pixel x, in linear light.
class Behind {
public:
    Behind(const Background& background, const Image* plate) : kind_(background.kind), plate_(plate) {
        const std::uint8_t rgb[3] = {background.color.r, background.color.g, background.color.b};
        for (int c = 0; c < 3; ++c) color_[c] = transfer().linear[rgb[c]];
    }
    void at(const GuidedRow& room, int x, int y, float* color) const {
        if (kind_ == Background::Kind::blur) {
            room.sample(x, guided::kBlurred, 3, color);
        } else if (plate_) {
            const std::uint8_t* pixel = plate_->row(y) + std::ptrdiff_t(x) * 4;
            for (int c = 0; c < 3; ++c) color[c] = transfer().linear[pixel[c]];
        } else {
            std::copy_n(color_, 3, color);
        }
    }

    /// The pixels [begin, end) of a row where nobody stands; `out` is the row's first.
    void alone(const GuidedRow& room, int y, int begin, int end, std::uint8_t* out) const;

private:
    Background::Kind kind_;
    const Image* plate_;
    float color_[3];
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

void Behind::alone(const GuidedRow& room, int y, int begin, int end, std::uint8_t* out) const {
    if (kind_ == Background::Kind::transparent) {
        std::fill(out + 4 * begin, out + 4 * end, std::uint8_t(0));
    } else if (kind_ == Background::Kind::blur) {
        blurredAlone(room, begin, end, out);
    } else if (plate_) {
        std::memcpy(out + 4 * begin, plate_->row(y) + 4 * begin, std::size_t(4) * std::size_t(end - begin));
        for (int x = begin; x < end; ++x) out[4 * x + 3] = 255;
    } else {
        const Transfer& tables = transfer();
        const std::uint8_t pixel[4] = {tables.encode(color_[0]), tables.encode(color_[1]), tables.encode(color_[2]),
                                       255};
        for (int x = begin; x < end; ++x) std::memcpy(out + 4 * x, pixel, 4);
    }
}

/// The light of the background on the person at one pixel; false where there is next to none.
bool lightAt(const GuidedRow& guidedRow, int x, float* light) {
    guidedRow.sample(x, guided::kWrap, 3, light);
    return light[0] + light[1] + light[2] > kNoLight;
}

void wrap(const float* light, float strength, float* color) {
    for (int c = 0; c < 3; ++c) color[c] = wrapped(color[c], light[c], strength);
}

/// Of the background on the person, 0 to 1.
float lightWrapOf(const CompositeParams& params) {
    return params.background.kind == Background::Kind::transparent ? 0.0F : clampUnit(params.lightWrap);
}

/// One row of the picture: the pixels and the coefficients where the person stands, and the coefficients as the camera
/// saw it.
struct Row {
    const std::uint8_t* rgba;
    GuidedRow guided, room;
    int y;
};

/// The pixels [begin, end) of a row of the picture; `out` is the row's first.
void compositeRun(
    const Row& row, int begin, int end, const CompositeParams& params, const Behind& behind, std::uint8_t* out) {
    const Transfer& tables = transfer();
    const Edge edge = edgeOf(params.threshold, params.softness);
    const bool transparent = params.background.kind == Background::Kind::transparent;
    const float lightWrap = lightWrapOf(params);
    const GuidedRow& guidedRow = row.guided;
    const std::uint8_t* rgba = row.rgba + std::ptrdiff_t(4) * begin;
    out += std::ptrdiff_t(4) * begin;
    for (int x = begin; x < end; ++x, out += 4, rgba += 4) {
        const float found = guidedRow.alpha(x, rgba);
        const float shown = shapeAlpha(found, edge), alpha = shown * float(rgba[3]) * (1.0F / 255);
        out[3] = transparent ? std::uint8_t(alpha * 255 + 0.5F) : 255;
        float light[3];
        const bool lit = lightWrap > 0 && alpha > 0 && lightAt(guidedRow, x, light);
        if (alpha >= 1 &&
            !lit) {  // most pixels are wholly on one label, and those of the person stay as they were seen
            std::copy_n(rgba, 3, out);
            continue;
        }
        float color[3], background[3] = {};
        if (!transparent) behind.at(row.room, x, row.y, background);
        if (alpha > 0) {
            for (int c = 0; c < 3; ++c) color[c] = tables.linear[rgba[c]];
            if (params.decontaminate && shown < 1) personColor(guidedRow, x, color, ownShare(found, shown), color);
            if (lit) wrap(light, lightWrap, color);
        } else {
            std::copy_n(background, 3, color);
        }
        for (int c = 0; c < 3; ++c)
            out[c] = tables.encode(transparent ? color[c] : mix(background[c], color[c], alpha));
    }
}

/// `labels` are those of the coefficients' points above.
void compositeRow(const Row& row,
                  const TrimapLabel* labels,
                  int width,
                  const CompositeParams& params,
                  const Behind& behind,
                  std::uint8_t* out) {
    const auto labelAt = [&](int x) { return labels[row.guided.across[x].first]; };
    for (int begin = 0, end = 0; begin < width; begin = end) {
        const TrimapLabel label = labelAt(begin);
        while (end < width && labelAt(end) == label) ++end;
        const std::ptrdiff_t first = std::ptrdiff_t(4) * begin;
        if (label == TrimapLabel::background) {
            behind.alone(row.room, row.y, begin, end, out);
        } else if (label == TrimapLabel::foreground && isOpaque(row.rgba + first, end - begin)) {
            std::memcpy(out + first, row.rgba + first, std::size_t(4) * std::size_t(end - begin));
        } else {
            compositeRun(row, begin, end, params, behind, out);
        }
    }
}

}  // namespace

void Compositor::prepare(Size points, Size picture, const SubjectTransform& transform) {
    const auto workers = std::size_t(threads());
    if (points == points_ && picture == picture_ && transform == transform_ && workers_.size() >= workers) return;
    asSeen_ = transform == SubjectTransform{};
    const InverseMapping mapping = inverseMapping(transform.mirrored, transform.scale, transform.x, transform.y);
    findTaps(points.width, picture.width, mapping.perX, mapping.fromX, across_);
    findTaps(points.height, picture.height, mapping.perY, mapping.fromY, down_);
    isMoved_ = transform != SubjectTransform{.mirrored = transform.mirrored};
    const InverseMapping room = inverseMapping(transform.mirrored, 1, 0, 0);
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
    transform_ = transform;
}

constexpr int kRowsAtOnce = 16;

/// Runs `work(row)` for every row of a picture on all threads, stopping early when asked to.
template <typename RowWork>
void Compositor::forEachRow(const ImageView& source,
                            const Planes& guided,
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
            work(Row{rgba, guidedRow, room, y});
        }
    });
}

void Compositor::over(const ImageView& source,
                      const Planes& guided,
                      const CompositeParams& params,
                      const Image* plate,
                      std::stop_token stop,
                      Image& out) {
    prepare(guided.size, source.size, params.transform);
    trimap_.find(guided, edgeOf(params.threshold, params.softness), lightWrapOf(params) > 0);
    const Behind behind(params.background, plate);
    forEachRow(source, guided, stop, [&](const Row& row) {
        const TrimapLabel* labels = trimap_.row(down_[std::size_t(row.y)].first);
        compositeRow(row, labels, source.size.width, params, behind, out.row(row.y));
    });
}

void Compositor::matte(
    const ImageView& source, const Planes& guided, const CompositeParams& params, std::stop_token stop, Image& out) {
    prepare(guided.size, source.size, {});
    const Edge edge = edgeOf(params.threshold, params.softness);
    forEachRow(source, guided, stop, [&](const Row& row) {
        const std::uint8_t* rgba = row.rgba;
        for (int x = 0; x < source.size.width; ++x, rgba += 4) {
            out.row(row.y)[x] = std::uint8_t(shapeAlpha(row.guided.alpha(x, rgba), edge) * float(rgba[3]) + 0.5F);
        }
    });
}

Image compositeOver(const ImageView& source,
                    const Planes& guided,
                    const CompositeParams& params,
                    const Image* plate,
                    std::stop_token stop) {
    Image out(source.size, PixelFormat::rgba8);
    Compositor().over(source, guided, params, plate, stop, out);
    return out;
}

Image renderMatte(const ImageView& source, const Planes& guided, const CompositeParams& params, std::stop_token stop) {
    Image out(source.size, PixelFormat::gray8);
    Compositor().matte(source, guided, params, stop, out);
    return out;
}

}  // namespace matte
