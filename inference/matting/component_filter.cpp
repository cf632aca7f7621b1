// SPDX-License-Identifier: Apache-2.0
#include "inference/matting/component_filter.h"

#include <algorithm>
#include <cmath>

#include "inference/core/parallel.h"
#include "inference/core/pixel_math.h"

namespace matte {
namespace {

/// The first pixel of the part, found by halving the way there.
int rootOf(std::vector<int>& parents, int i) {
    while (parents[i] != i) {
        parents[i] = parents[parents[i]];
        i = parents[i];
    }
    return i;
}

void unite(std::vector<int>& parents, int a, int b) {
    a = rootOf(parents, a);
    b = rootOf(parents, b);
    (a < b ? parents[b] : parents[a]) = std::min(a, b);
}

/// Distances along a row to the nearest pixel whose root is on one side, at most `reach`.
template <typename Is>
void distances(int width, int reach, const Is& is, std::uint8_t* out) {
    int away = reach;
    for (int x = 0; x < width; ++x) {
        away = is(x) ? 0 : std::min(away + 1, reach);
        out[2 * x] = std::uint8_t(away);
    }
    away = reach;
    for (int x = width - 1; x >= 0; --x) {
        away = is(x) ? 0 : std::min(away + 1, reach);
        out[2 * x] = std::uint8_t(std::min(int(out[2 * x]), away));
    }
}

}  // namespace

/// Unites each pixel with those before it that it touches, and counts what lies at each root.
void ComponentFilter::findParts(const Planes& matte) {
    const int width = matte.size.width, height = matte.size.height;
    for (int y = 0; y < height; ++y) {
        const float* row = matte.row(y);
        const int first = y * width;
        for (int x = 0; x < width; ++x) {
            const int i = first + x;
            parents_[i] = row[x] > kSomebody ? i : -1;
            if (parents_[i] < 0) continue;
            if (x > 0 && parents_[i - 1] >= 0) parents_[i] = rootOf(parents_, i - 1);
            if (y == 0) continue;
            for (int d = std::max(x - 1, 0); d <= std::min(x + 1, width - 1); ++d) {
                if (parents_[i - x - width + d] >= 0) unite(parents_, i, i - x - width + d);
            }
        }
    }
    for (int i = 0; i < width * height; ++i) {
        if (parents_[i] == i) parts_[i] = {};
        if (parents_[i] < 0) continue;
        const int root = rootOf(parents_, i);
        parents_[i] = root;
        ++parts_[root].pixels;
        parts_[root].room += roomOf(i % width, i / width, width, height, kept_[i] != 0);
    }
}

/// Says which parts stay, and whether any goes.
bool ComponentFilter::judge(bool removeSmallRegions, bool nearestOnly) {
    const int count = int(parents_.size());
    unsigned largest = 0;
    int nearest = -1;
    for (int i = 0; i < count; ++i) {
        if (parents_[i] != i) continue;
        largest = std::max(largest, parts_[i].pixels);
        if (nearest < 0 || parts_[i].room > parts_[nearest].room) nearest = i;
    }
    bool any = false;
    for (int i = 0; i < count; ++i) {
        if (parents_[i] != i) continue;
        const bool smallRegion = removeSmallRegions && isSmallRegion(parts_[i].pixels, largest, unsigned(count));
        parts_[i].stays = !smallRegion && (!nearestOnly || i == nearest);
        any = any || !parts_[i].stays;
    }
    return any;
}

void ComponentFilter::fade(Planes& matte) {
    const int width = matte.size.width, height = matte.size.height;
    const int reach = surroundings(matte.size.longest());
    parallelEach(height, [&](int y) {
        const int* parents = parents_.data() + std::ptrdiff_t(y) * width;
        std::uint8_t* out = near_.data() + std::ptrdiff_t(y) * width * 2;
        distances(
            width, reach, [&](int x) { return parents[x] >= 0 && parts_[parents[x]].stays; }, out);
        distances(
            width, reach, [&](int x) { return parents[x] >= 0 && !parts_[parents[x]].stays; }, out + 1);
    });
    parallelEach(height, [&](int y) {
        for (int x = 0; x < width; ++x) {
            int nearest[2] = {reach * reach, reach * reach};  // squared
            for (int other = std::max(y - reach, 0); other <= std::min(y + reach, height - 1); ++other) {
                const std::uint8_t* near = near_.data() + (std::ptrdiff_t(other) * width + x) * 2;
                for (int side = 0; side < 2; ++side) {
                    const int squared = near[side] * near[side] + (other - y) * (other - y);
                    nearest[side] = std::min(nearest[side], squared);
                }
            }
            matte.row(y)[x] *= stayingShare(std::sqrt(float(nearest[0])), std::sqrt(float(nearest[1])), reach);
        }
    });
}

void ComponentFilter::keep(bool removeSmallRegions, bool nearestOnly, Planes& matte) {
    if (!removeSmallRegions && !nearestOnly) return reset();
    const std::size_t pixels = matte.size.pixels();
    if (!(size_ == matte.size) || kept_.size() != pixels) {
        size_ = matte.size;
        parents_.resize(pixels);
        parts_.resize(pixels);
        near_.resize(pixels * 2);
        kept_.assign(pixels, 0);
    }
    findParts(matte);
    const bool any = judge(removeSmallRegions, nearestOnly);
    for (std::size_t i = 0; i < pixels; ++i) kept_[i] = parents_[i] >= 0 && parts_[parents_[i]].stays;
    if (any) fade(matte);
}

}  // namespace matte
