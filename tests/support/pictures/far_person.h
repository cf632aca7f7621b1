// SPDX-License-Identifier: Apache-2.0
// A photo with somebody far away in it: the drawn person, small in a large drawn room. Any thread.
#pragma once

#include <cstring>
#include <memory>

#include "inference/core/image.h"
#include "inference/core/synthetic_person.h"

namespace matte::test {

struct FarPerson {
    std::shared_ptr<const Image> photo;  ///< bgr8
    Image alpha;                         ///< gray8, the truth
};

inline FarPerson farPerson() {
    constexpr Size size{1920, 1080}, drawn{192, 108};
    constexpr int left = 900, top = size.height - drawn.height;
    const SyntheticPerson person(drawn, 32, 0);
    const Image cutout = person.cutout(3);
    Image photo(size, PixelFormat::bgr8), alpha(size, PixelFormat::gray8);
    std::memcpy(photo.row(0), SyntheticPerson(size, 32, 0).room().row(0), photo.bytes());
    std::memset(alpha.row(0), 0, alpha.bytes());
    for (int y = 0; y < drawn.height; ++y) {
        for (int x = 0; x < drawn.width; ++x) {
            const std::uint8_t* from = cutout.row(y) + 4 * x;
            std::uint8_t* to = photo.row(top + y) + 3 * (left + x);
            for (int c = 0; c < 3; ++c) to[c] = std::uint8_t((from[2 - c] * from[3] + to[c] * (255 - from[3])) / 255);
            alpha.row(top + y)[left + x] = from[3];
        }
    }
    return {std::make_shared<Image>(std::move(photo)), std::move(alpha)};
}

}  // namespace matte::test
