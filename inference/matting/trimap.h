// SPDX-License-Identifier: Apache-2.0
// The trimap of a matte, on the coefficients' coarse grid: background, foreground, and unknown between them. Most of a
// picture is one of the first two, where nothing needs to be mixed. Any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "inference/core/image.h"
#include "inference/core/pixel_math.h"

namespace matte {

/// What every pixel between four neighbouring points of the coefficients' grid is, whatever its colour.
enum class TrimapLabel : std::uint8_t { unknown, background, foreground };

/// Found again for each frame; memory is kept while the grid's size stays. One thread at a time.
class Trimap {
public:
    /// `guided` is [h, w, guided::kChannels] as in guided_filter.h. `lit`: light of the background falls on the person,
    /// who is `foreground` only where there is none of it.
    void find(const Planes& guided, Edge edge, bool lit);
    /// For each point of row y: the label of the pixels from there to the next point right and below.
    [[nodiscard]] const TrimapLabel* row(int y) const {
        return cells_.data() + std::ptrdiff_t(y) * std::ptrdiff_t(size_.width);
    }

private:
    Size size_;
    std::vector<TrimapLabel> points_, cells_;
};

}  // namespace matte
