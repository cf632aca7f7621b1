// SPDX-License-Identifier: Apache-2.0
// Specks and other people out of a live matte, at the network's size: connected parts by union-find, each pixel of
// their soft surroundings going with the nearer part. Holes are left. The formulas are in pixel_math.h. One thread at a
// time; no memory is allocated while the size stays.
//
//     people.keep(look.removeSpecks, look.nearestOnly, matte);
#pragma once

#include <cstdint>
#include <vector>

#include "inference/core/image.h"

namespace matte {

class People {
public:
    /// Another source begins: nobody has stayed before.
    void forget() { kept_.clear(); }
    /// `matte` [h, w, 1] in place: without the parts that are specks, and with only the part that takes the most room.
    void keep(bool removeSpecks, bool nearestOnly, Planes& matte);

private:
    struct Part {
        unsigned pixels = 0, room = 0;
        bool stays = true;
    };
    void findParts(const Planes& matte);
    [[nodiscard]] bool judge(bool removeSpecks, bool nearestOnly);
    void fade(Planes& matte);

    Size size_;
    std::vector<int> parents_;        ///< [h, w]: a pixel of the same part, or -1
    std::vector<Part> parts_;         ///< [h, w], at each part's root
    std::vector<std::uint8_t> kept_;  ///< [h, w]: whether it stayed in the frame before
    std::vector<std::uint8_t> near_;  ///< [h, w, 2]: distances within the row to what stays and what goes
};

}  // namespace matte
