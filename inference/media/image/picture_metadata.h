// SPDX-License-Identifier: Apache-2.0
// What lies in an encoded picture beside its pixels: EXIF data and a colour profile. Any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace matte {

/// The EXIF data, which has the form of a TIFF file, in JPEG (APP1), PNG (eXIf) and WebP (EXIF); a TIFF is its own.
/// Empty when there is none.
std::span<const std::uint8_t> exifOf(std::span<const std::uint8_t> picture);

/// The ICC profile, whole and unpacked, in JPEG (APP2), PNG (iCCP), WebP (ICCP) and TIFF (tag 34675). Empty when there
/// is none, a part of it is missing, or it is larger than any real one. Its content is as untrusted as the picture's.
std::vector<std::uint8_t> colorProfileOf(std::span<const std::uint8_t> picture);

}  // namespace matte
