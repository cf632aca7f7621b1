// SPDX-License-Identifier: Apache-2.0
// Between what cameras send and the formats of frames. Any thread.
#pragma once

#include <cstddef>
#include <span>

#include "inference/media/frame_source.h"

namespace matte {

/// Of the frame that a picture in `encoding` becomes: YUV stays YUV, RGB becomes bgr8 or rgba8, MJPG rgba8, and
/// H264 bgr8.
/// Throws Error(source) for what can't be read.
PixelFormat frameFormat(Encoding encoding);

/// Raw pixels as they lie in a camera's buffer.
struct RawPicture {
    Encoding encoding = Encoding::any;
    Size size;
    std::span<const std::uint8_t> bytes;
    std::ptrdiff_t strideBytes = 0;  ///< of the first plane; the others' follow from it
};

/// How many bytes a picture of that stride has, all planes together.
std::size_t rawBytes(Encoding encoding, Size size, std::ptrdiff_t strideBytes);
/// The stride of rows without padding; 0 for encodings that have no rows: MJPG and H264.
std::ptrdiff_t packedRawStride(Encoding encoding, int width);

/// Whether such pictures can be: a size that can be held, and rows that fit into the stride (0: without padding).
bool isPossible(Encoding encoding, Size size, std::ptrdiff_t strideBytes);

/// Copies into `frame`, which is of the same size and of frameFormat(). False when there are too few bytes: such a
/// picture is left out.
bool copyRaw(const RawPicture& picture, Image& frame);

/// bgr8 to nv12 or yuyv of the same size, studio range, BT.601; the inverse of yuvToRgb.
void bgrToYuv(const ImageView& bgr, Image& yuv);

}  // namespace matte
