// SPDX-License-Identifier: Apache-2.0
// BMP, which libvips reads by ImageMagick alone: that is not for any file, and FFmpeg and OpenCV misread some. Format:
// BITMAPCOREHEADER to BITMAPV5HEADER of Windows, OS/2 1 and 2. Any thread.
#pragma once

#include <cstdint>
#include <span>

#include "inference/core/image.h"
#include "inference/media/image/decode_budget.h"

namespace matte {

/// 16 bytes are enough.
bool beginsAsBmp(std::span<const std::uint8_t> bytes);

/// Uncompressed, of any depth: rgba8. Throws Error(input): compressed, damaged, cut off, or beyond the budget; and
/// Cancelled.
Image decodeBmp(std::span<const std::uint8_t> bytes, DecodeBudget& budget);

}  // namespace matte
