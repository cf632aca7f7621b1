// SPDX-License-Identifier: Apache-2.0
// The trimap of a matte, on the coefficients' coarse grid: background, foreground, or unknown. Most of a picture is
// background or foreground, where the composite mixes nothing. Any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "inference/core/image.h"
#include "inference/core/pixel_math.h"

namespace matte {

/// What all pixels of a grid cell, between four neighbouring points, are, whatever their colours.
enum class TrimapLabel : std::uint8_t { unknown, background, foreground };

/// Keeps its memory while the grid's size stays the same. One thread at a time.
class Trimap {
public:
    /// Labels every cell of a frame. `guided`: [h, w, guided::kChannels] as in guided_filter.h. `lit`: light wrap is
    /// on; `foreground` then means also that no light falls on the cell.
    void find(const Planes& guided, Edge edge, bool lit);
    /// For each point of row y, the label of the cell to its lower right.
    [[nodiscard]] const TrimapLabel* row(int y) const {
        return cells_.data() + std::ptrdiff_t(y) * std::ptrdiff_t(size_.width);
    }

private:
    Size size_;
    std::vector<TrimapLabel> points_, cells_;
};

}  // namespace matte
