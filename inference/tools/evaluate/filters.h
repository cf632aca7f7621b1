// SPDX-License-Identifier: Apache-2.0
// What the measures of mattes do to planes of pixels, [h, w]. Any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "inference/core/image.h"

namespace matte {

/// One flag a pixel, 0 or 1.
struct Mask {
    Size size;
    std::vector<std::uint8_t> set;
    explicit Mask(Size s) : size(s), set(s.pixels()) {}
    [[nodiscard]] std::size_t count() const { return std::size_t(std::ranges::count(set, 1)); }
};

/// The pixels of `matte`, [h, w, 1], that `holds` is true of.
Mask where(const Planes& matte, const std::function<bool(float)>& holds);
/// The mask dilated by a square of 2 `radius` + 1 pixels a side.
Mask dilated(const Mask& mask, int radius);
/// The largest region of pixels of `open` that are neighbours along an axis, the first of several as large; nothing
/// when no pixel is open.
Mask largestRegion(Mask open);

/// `in` filtered along x, then along y, by kernels of an odd length; beyond the edge the outermost pixels are repeated.
template <typename T>
std::vector<T> filtered(const std::vector<T>& in,
                        Size size,
                        const std::vector<T>& alongX,
                        const std::vector<T>& alongY) {
    const int radius = int(alongX.size()) / 2;
    std::vector<T> across(in.size()), out(in.size());
    const auto at = [&](int x, int y) {
        return std::size_t(std::clamp(y, 0, size.height - 1)) * std::size_t(size.width) +
               std::size_t(std::clamp(x, 0, size.width - 1));
    };
    const auto pass = [&](const std::vector<T>& from, std::vector<T>& to, const std::vector<T>& kernel, int dx,
                          int dy) {
        for (int y = 0; y < size.height; ++y) {
            for (int x = 0; x < size.width; ++x) {
                for (int i = -radius; i <= radius; ++i) {
                    to[at(x, y)] += kernel[std::size_t(i + radius)] * from[at(x + i * dx, y + i * dy)];
                }
            }
        }
    };
    pass(in, across, alongX, 1, 0);
    pass(across, out, alongY, 0, 1);
    return out;
}

}  // namespace matte
