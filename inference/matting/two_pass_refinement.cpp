// SPDX-License-Identifier: Apache-2.0
#include "inference/matting/two_pass_refinement.h"

#include <algorithm>
#include <cmath>

#include "inference/matting/guided_filter.h"
#include "inference/matting/resample.h"

namespace matte {
namespace {

/// How much larger people must look, in pixels that the photo has, to be worth the time of a second pass.
constexpr double kWorthwhile = 1.5;
/// What is seen around them, as a share of their own longest side, and at the least in pixels of the first pass's
/// input.
constexpr double kMargin = 0.2, kLeastMargin = 16;
/// Minimum soft IoU of both passes' people for the second to be accepted. Without the context of the room, the network
/// has taken a bed cover behind a person for their clothes.
constexpr double kAgreement = 0.5;

/// A stretch of one axis: from `begin` to before `end`.
struct Stretch {
    double begin = 0, end = 0;
    [[nodiscard]] double length() const { return end - begin; }
};

/// Made `wider` on both sides, as far as the axis of `full` pixels goes.
Stretch grown(Stretch s, double wider, int full) {
    return {std::max(0.0, s.begin - wider), std::min(double(full), s.end + wider)};
}

/// At least `length` long, if the axis is; moved where it would leave it.
Stretch stretchedTo(Stretch s, double length, int full) {
    length = std::clamp(length, s.length(), double(full));
    const double begin = std::clamp((s.begin + s.end - length) / 2, 0.0, full - length);
    return {begin, begin + length};
}

/// Where along each axis `matte` is more person than background; empty when nowhere.
struct Found {
    Stretch across, down;
};
std::optional<Found> findPeople(const Planes& matte) {
    int left = matte.size.width, right = -1, top = matte.size.height, bottom = -1;
    for (int y = 0; y < matte.size.height; ++y) {
        const float* row = matte.row(y);
        for (int x = 0; x < matte.size.width; ++x) {
            if (!(row[x] > 0.5F)) continue;
            left = std::min(left, x);
            right = std::max(right, x);
            top = std::min(top, y);
            bottom = y;
        }
    }
    if (right < 0) return std::nullopt;
    return Found{{double(left), right + 1.0}, {double(top), bottom + 1.0}};
}

/// Where a part of a photo lies in a matte of the whole photo, in the matte's pixels.
struct Window {
    int left = 0, top = 0;
    Size size;
};
Window windowOf(const PhotoRegion& region, Size photo, Size matte) {
    const double scaleX = double(matte.width) / photo.width, scaleY = double(matte.height) / photo.height;
    const int left = std::min(matte.width - 1, int(std::lround(region.left * scaleX)));
    const int top = std::min(matte.height - 1, int(std::lround(region.top * scaleY)));
    return {left,
            top,
            {std::max(1, int(std::lround((region.left + region.size.width) * scaleX)) - left),
             std::max(1, int(std::lround((region.top + region.size.height) * scaleY)) - top)}};
}

/// The soft IoU of both passes' people in `window` of the first.
double agreement(const Planes& whole, const Planes& closer, const Window& window) {
    const Planes second = resamplePlanes(closer, window.size);
    double both = 0, either = 0;
    for (int y = 0; y < window.size.height; ++y) {
        const float* first = whole.row(window.top + y) + window.left;
        for (int x = 0; x < window.size.width; ++x) {
            both += std::min(first[x], second.row(y)[x]);
            either += std::max(first[x], second.row(y)[x]);
        }
    }
    return either > 0 ? both / either : 1;
}

/// The weight of the second pass `x` pixels into an axis of `length`: it fades out over `seam` pixels towards a
/// border that lies within the photo.
float weightAt(int x, int length, double seam, bool fadesAtBegin, bool fadesAtEnd) {
    double weight = 1;
    if (fadesAtBegin) weight = std::min(weight, (x + 0.5) / seam);
    if (fadesAtEnd) weight = std::min(weight, (length - x - 0.5) / seam);
    return float(weight);
}

}  // namespace

std::optional<PhotoRegion> regionToRefine(const Planes& matte, Size photo) {
    const double scale = double(photo.longest()) / matte.size.longest();  // pixels of the photo for one that was seen
    if (scale < kWorthwhile) return std::nullopt;
    const auto found = findPeople(matte);
    if (!found) return std::nullopt;
    const double scaleX = double(photo.width) / matte.size.width, scaleY = double(photo.height) / matte.size.height;
    Stretch across{found->across.begin * scaleX, found->across.end * scaleX};
    Stretch down{found->down.begin * scaleY, found->down.end * scaleY};
    const double margin = std::max(kMargin * std::max(across.length(), down.length()), kLeastMargin * scale);
    across = grown(across, margin, photo.width);
    down = grown(down, margin, photo.height);
    const double side = std::max(across.length(), down.length());
    if (photo.longest() < kWorthwhile * side) return std::nullopt;
    across = stretchedTo(across, side, photo.width);
    down = stretchedTo(down, side, photo.height);
    const int left = int(across.begin), top = int(down.begin);
    return PhotoRegion{left,
                       top,
                       {std::min(photo.width, int(std::ceil(across.end))) - left,
                        std::min(photo.height, int(std::ceil(down.end))) - top},
                       std::max(1, int(margin / 2))};
}

ImageView regionOf(const ImageView& photo, const PhotoRegion& region) {
    return {photo.row(region.top) + std::ptrdiff_t(region.left) * bytesPerPixel(photo.format), region.size,
            photo.strideBytes, photo.format};
}

Planes mergePasses(const Planes& whole, const Planes& closer, const PhotoRegion& region, Size photo) {
    if (agreement(whole, closer, windowOf(region, photo, whole.size)) < kAgreement) return whole;
    const double detail = double(closer.size.longest()) * photo.longest() / region.size.longest();
    const Size size = shrunkTo(photo, int(std::min(double(kGuidedLongestSide), detail)));
    Planes joined = resamplePlanes(whole, size);
    const auto [left, top, inside] = windowOf(region, photo, size);
    const Planes second = resamplePlanes(closer, inside);
    const double seamX = std::max(1.0, double(region.seam) * size.width / photo.width);
    const double seamY = std::max(1.0, double(region.seam) * size.height / photo.height);
    for (int y = 0; y < inside.height; ++y) {
        const float weightY = weightAt(y, inside.height, seamY, top > 0, top + inside.height < size.height);
        float* row = joined.row(top + y) + left;
        for (int x = 0; x < inside.width; ++x) {
            const float weight = weightY * weightAt(x, inside.width, seamX, left > 0, left + inside.width < size.width);
            row[x] += weight * (second.row(y)[x] - row[x]);
        }
    }
    return joined;
}

std::optional<Planes> refineInTwoPasses(const Planes& first, const ImageView& photo, const RegionMatte& network) {
    const auto region = regionToRefine(first, photo.size);
    if (!region) return std::nullopt;
    const Planes second = network(regionOf(photo, *region));
    if (!allFinite(second.values)) return std::nullopt;
    return mergePasses(first, second, *region, photo.size);
}

}  // namespace matte
