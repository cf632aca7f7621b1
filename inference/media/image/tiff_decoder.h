// SPDX-License-Identifier: Apache-2.0
// TIFF straight from libtiff: OpenCV goes on after its errors and warnings, and they are the only sign that a strip
// could not be decoded and would be grey or black. It also saves a copy, because libtiff writes rgba8 itself. Any
// thread.
#pragma once

#include <cstdint>
#include <span>

#include "inference/core/image.h"
#include "inference/media/image/decode_budget.h"
#include "inference/media/image/picture_header.h"

namespace matte {

/// rgba8 with straight alpha, as stored (not turned upright); `header` is inspectPicture()'s. Throws Error(input):
/// damaged in any part, or of a kind that libtiff can't show; and Cancelled.
Image decodeTiff(std::span<const std::uint8_t> bytes, const PictureHeader& header, DecodeBudget& budget);

}  // namespace matte
