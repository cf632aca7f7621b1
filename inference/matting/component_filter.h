// SPDX-License-Identifier: Apache-2.0
// ComponentFilter: removes small regions and other people from a live matte, at the network's size. Connected
// components are labelled by union-find; each pixel of their soft surroundings goes with the nearer component. Holes
// are left. The formulas are in pixel_math.h. One thread at a time; no memory is allocated while the size stays.
//
//     components.keep(params.removeSmallRegions, params.nearestOnly, matte);
#pragma once

#include <cstdint>
#include <vector>

#include "inference/core/image.h"

namespace matte {

class ComponentFilter {
public:
    /// Another source begins: nobody has stayed before.
    void reset() { kept_.clear(); }
    /// `matte` [h, w, 1] in place: without the components that are small regions, and with only the component that
    /// takes the most room.
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
    std::vector<int> parents_;        ///< [h, w]: a pixel of the same part, or -1
    std::vector<Part> parts_;         ///< [h, w], at each part's root
    std::vector<std::uint8_t> kept_;  ///< [h, w]: whether it stayed in the frame before
    std::vector<std::uint8_t> near_;  ///< [h, w, 2]: distances within the row to what stays and what goes
};

}  // namespace matte
