// SPDX-License-Identifier: Apache-2.0
// WebP straight from libwebp, a piece of the file after the other: it can be stopped, and there is no second picture in
// memory. Any thread.
#pragma once

#include <cstdint>
#include <span>

#include "inference/core/image.h"
#include "inference/media/image/decode_budget.h"
#include "inference/media/image/picture_header.h"

namespace matte {

/// rgba8, as stored (not turned upright); `header` is inspectPicture()'s. Throws Error(input), and Cancelled.
Image decodeWebp(std::span<const std::uint8_t> bytes, const PictureHeader& header, DecodeBudget& budget);

}  // namespace matte
