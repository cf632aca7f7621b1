// SPDX-License-Identifier: Apache-2.0
// The colours of a picture with an ICC profile, as those of sRGB: everything else here takes pixels for that, and so do
// the programs that open what is saved. By Little CMS, relative colorimetric with black-point compensation, as browsers
// show pictures. A damaged profile, or one of other channels than the picture's, is as good as none. Any thread.
#pragma once

#include <cstdint>
#include <span>

#include "inference/core/image.h"

namespace matte {

/// From RGB. `image` is rgba8; its alpha stays. Grey profiles are left alone: their pictures are mattes, too.
void convertToSrgb(Image& image, std::span<const std::uint8_t> profile);

/// From four inks, in the order cyan, magenta, yellow, black; `inverted`: 255 is none of it. The alpha becomes 255.
/// False: not converted, for `profile` is not one of a press.
bool convertCmykToSrgb(Image& image, bool inverted, std::span<const std::uint8_t> profile);

}  // namespace matte
