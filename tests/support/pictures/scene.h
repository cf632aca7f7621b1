// SPDX-License-Identifier: Apache-2.0
// A made-up portrait whose matte is known: a person-shaped blob with strands of hair over a coloured room. Any thread.
#pragma once

#include "inference/core/image.h"

namespace matte::test {

struct Scene {
    Image photo;    ///< rgba8: alpha x person + (1 - alpha) x room, mixed in linear light
    Planes alpha;   ///< [h, w, 1], the truth
    Planes person;  ///< [h, w, 3] the person's own colour everywhere, linear
    Planes coarse;  ///< [h/8, w/8, 1]: the truth as a network sees it
};

/// The same for the same size on every machine; sides are multiples of 8.
Scene makeScene(Size size);

}  // namespace matte::test
