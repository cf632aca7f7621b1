// SPDX-License-Identifier: Apache-2.0
// A camera's JPEG straight from libjpeg, into memory that the engine may want page-locked: libvips would copy it. Any
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "inference/core/frame_pool.h"
#include "inference/core/image.h"

namespace matte {

/// A camera's picture into a frame of the pool, rgba8. Null when it is damaged or the pool is empty.
std::shared_ptr<Image> decodeJpegFrame(std::span<const std::uint8_t> bytes, FramePool& pool);

}  // namespace matte
