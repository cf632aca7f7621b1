// SPDX-License-Identifier: Apache-2.0
// The EXIF orientation of an encoded picture, and turning its pixels by it. Any thread.
#pragma once

#include <cstdint>
#include <span>

#include "inference/core/image.h"

namespace matte {

/// 1 to 8 as EXIF 2.3 defines them (1 = upright); 1 when there is none or it is damaged. Looks into JPEG (APP1), PNG
/// (eXIf), WebP (EXIF) and TIFF (tag 274).
int exifOrientation(std::span<const std::uint8_t> bytes);

/// `stored` (rgba8) as it is meant to be seen. Orientations 5 to 8 swap width and height.
Image turnedUpright(Image stored, int orientation);

}  // namespace matte
