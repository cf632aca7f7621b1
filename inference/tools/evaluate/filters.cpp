// SPDX-License-Identifier: Apache-2.0
#include "inference/tools/evaluate/filters.h"

namespace matte {
namespace {

/// Whether any pixel of the line within `radius` is set, along a line of `count` pixels that are `step` apart.
void dilateLine(const std::uint8_t* in, int count, std::size_t step, int radius, std::uint8_t* out) {
    int near = 0;
    for (int i = 0; i < std::min(radius, count); ++i) near += in[std::size_t(i) * step];
    for (int i = 0; i < count; ++i) {
        if (i + radius < count) near += in[std::size_t(i + radius) * step];
        if (i - radius - 1 >= 0) near -= in[std::size_t(i - radius - 1) * step];
        out[std::size_t(i) * step] = std::uint8_t(near > 0);
    }
}

}  // namespace

Mask where(const Planes& matte, const std::function<bool(float)>& holds) {
    Mask mask(matte.size);
    for (std::size_t i = 0; i < mask.set.size(); ++i) mask.set[i] = std::uint8_t(holds(matte.values[i]));
    return mask;
}

Mask dilated(const Mask& mask, int radius) {
    Mask across(mask.size), out(mask.size);
    const auto width = std::size_t(mask.size.width);
    for (std::size_t y = 0; y < std::size_t(mask.size.height); ++y) {
        dilateLine(mask.set.data() + y * width, mask.size.width, 1, radius, across.set.data() + y * width);
    }
    for (std::size_t x = 0; x < width; ++x) {
        dilateLine(across.set.data() + x, mask.size.height, width, radius, out.set.data() + x);
    }
    return out;
}

Mask largestRegion(Mask open) {
    std::vector<std::size_t> region, largest;
    const auto width = std::size_t(open.size.width);
    for (std::size_t seed = 0; seed < open.set.size(); ++seed) {
        if (!open.set[seed]) continue;
        region.assign(1, seed);
        open.set[seed] = 0;
        for (std::size_t next = 0; next < region.size(); ++next) {
            const std::size_t i = region[next], x = i % width;
            const auto enter = [&](std::size_t neighbour) {
                if (!open.set[neighbour]) return;
                open.set[neighbour] = 0;
                region.push_back(neighbour);
            };
            if (x > 0) enter(i - 1);
            if (x + 1 < width) enter(i + 1);
            if (i >= width) enter(i - width);
            if (i + width < open.set.size()) enter(i + width);
        }
        if (region.size() > largest.size()) largest.swap(region);
    }
    Mask mask(open.size);
    for (const std::size_t i : largest) mask.set[i] = 1;
    return mask;
}

}  // namespace matte
