// SPDX-License-Identifier: Apache-2.0
#include "inference/tools/evaluate/filters.h"

namespace matte {

std::vector<std::uint8_t> largestRegion(std::vector<std::uint8_t> open, Size size) {
    std::vector<std::size_t> region, largest;
    const auto width = std::size_t(size.width);
    for (std::size_t seed = 0; seed < open.size(); ++seed) {
        if (!open[seed]) continue;
        region.assign(1, seed);
        open[seed] = 0;
        for (std::size_t next = 0; next < region.size(); ++next) {
            const std::size_t i = region[next], x = i % width;
            const auto enter = [&](std::size_t neighbour) {
                if (!open[neighbour]) return;
                open[neighbour] = 0;
                region.push_back(neighbour);
            };
            if (x > 0) enter(i - 1);
            if (x + 1 < width) enter(i + 1);
            if (i >= width) enter(i - width);
            if (i + width < open.size()) enter(i + width);
        }
        if (region.size() > largest.size()) largest.swap(region);
    }
    std::vector<std::uint8_t> mask(open.size());
    for (const std::size_t i : largest) mask[i] = 1;
    return mask;
}

}  // namespace matte
