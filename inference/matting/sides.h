// SPDX-License-Identifier: Apache-2.0
// Which places of a picture are wholly background or wholly person, found on the field's coarse grid: most of a picture
// is, and there nothing needs to be mixed. Any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "inference/core/image.h"
#include "inference/core/pixel_math.h"

namespace matte {

/// What every pixel between four neighbouring points of the field is, whatever its colour.
enum class Side : std::uint8_t { either, background, person };

/// Found again for each frame; memory is kept while the field's size stays. One thread at a time.
class Sides {
public:
    /// `fields` is [h, w, field::kChannels] as in refine.h. `lit`: light of the background falls on the person, who
    /// counts as `person` only where there is none of it.
    void find(const Planes& fields, Edge edge, bool lit);
    /// For each point of row y: the side of the pixels from there to the next point right and below.
    [[nodiscard]] const Side* row(int y) const {
        return cells_.data() + std::ptrdiff_t(y) * std::ptrdiff_t(size_.width);
    }

private:
    Size size_;
    std::vector<Side> points_, cells_;
};

}  // namespace matte
