// SPDX-License-Identifier: Apache-2.0
// JPEG straight from libjpeg: OpenCV prints the decoder's warnings and goes on, and they are the only sign that a photo
// was cut off or damaged. It also saves a copy, because libjpeg-turbo writes rgba8 itself. Any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "inference/core/frame_pool.h"
#include "inference/core/image.h"
#include "inference/media/image/decode_budget.h"

namespace matte {

/// rgba8, opaque, as stored (not turned upright). Throws Error(input): too large, cut off, or damaged; and Cancelled.
Image decodeJpeg(std::span<const std::uint8_t> bytes, DecodeBudget& budget);

/// A camera's picture into a frame of the pool, rgba8. Null when it is damaged or the pool is empty.
std::shared_ptr<Image> decodeJpegFrame(std::span<const std::uint8_t> bytes, FramePool& pool);

}  // namespace matte
