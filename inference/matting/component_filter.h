// SPDX-License-Identifier: Apache-2.0
// ComponentFilter: removes small regions and other people from a live matte, at the network's size. Labels connected
// components by union-find; each pixel of their soft margins follows the nearer component. Does not fill holes. The
// formulas are in pixel_math.h. One thread at a time; allocates only when the size changes.
//
//     components.keep(params.removeSmallRegions, params.nearestOnly, matte);
#pragma once

#include <cstdint>
#include <vector>

#include "inference/core/image.h"

namespace matte {

class ComponentFilter {
public:
    /// For a new source: clears the history.
    void reset() { kept_.clear(); }
    /// Filters `matte` [h, w, 1] in place: removes small regions, or all but the most prominent component, or both.
    void keep(bool removeSmallRegions, bool nearestOnly, Planes& matte);

private:
    struct Part {
        unsigned pixels = 0, room = 0;
        bool stays = true;
    };
    void findParts(const Planes& matte);
    [[nodiscard]] bool judge(bool removeSmallRegions, bool nearestOnly);
    void fade(Planes& matte);

    Size size_;
    std::vector<int> parents_;        ///< [h, w]: union-find parent, or -1 outside all components
    std::vector<Part> parts_;         ///< [h, w]: valid at each component's root
    std::vector<std::uint8_t> kept_;  ///< [h, w]: whether the pixel was kept in the previous frame
    std::vector<std::uint8_t> near_;  ///< [h, w, 2]: distances within the row to kept and to removed components
};

}  // namespace matte
