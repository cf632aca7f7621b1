// SPDX-License-Identifier: Apache-2.0
// Pictures by libvips: JPEG, PNG, WebP, TIFF, HEIF and AVIF, and the first picture of a GIF. Any thread.
#pragma once

#include <cstdint>
#include <span>

#include "inference/core/image.h"
#include "inference/media/image/decode_budget.h"

namespace matte {

/// Whether a file that begins so is read by decodePicture(). 64 bytes are enough.
bool isDecodable(std::span<const std::uint8_t> begin);

/// rgba8 in sRGB, turned upright; of several pages the largest. Throws Error(input): damaged or cut off in any part
/// that can be told, of a kind that is not supported, or beyond the budget; and Cancelled.
Image decodePicture(std::span<const std::uint8_t> bytes, DecodeBudget& budget);

}  // namespace matte
