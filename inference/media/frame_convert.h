// SPDX-License-Identifier: Apache-2.0
// Conversion of what cameras send to the formats of frames. Any thread.
#pragma once

#include <cstddef>
#include <span>

#include "inference/media/frame_source.h"

namespace matte {

/// What reading a picture costs, to compare encodings: 0 for NV12, which stays as it is, to 8.
int readingCost(Encoding encoding);
/// The format of the frame that a picture in `encoding` becomes: YUV stays YUV; RGB becomes bgr8 or rgba8, MJPG rgba8,
/// and H264 bgr8. Throws Error(source) for an encoding that can't be read.
PixelFormat frameFormat(Encoding encoding);

/// Raw pixels as they lie in a camera's buffer.
struct RawPicture {
    Encoding encoding = Encoding::any;
    Size size;
    std::span<const std::uint8_t> bytes;
    std::ptrdiff_t strideBytes = 0;  ///< of the first plane; the others' follow from it
};

/// Bytes of a picture with that stride, all planes together.
std::size_t rawBytes(Encoding encoding, Size size, std::ptrdiff_t strideBytes);
/// The stride of rows without padding; 0 for encodings that have no rows: MJPG and H264.
std::ptrdiff_t packedRawStride(Encoding encoding, int width);

/// Whether there can be such a picture: of a size that can be held, with rows that fit into the stride (0: no padding).
bool isPossible(Encoding encoding, Size size, std::ptrdiff_t strideBytes);

/// Copies into `frame`, which has the same size and frameFormat(). False when there are too few bytes.
bool copyRaw(const RawPicture& picture, Image& frame);

/// bgr8 to nv12 or yuyv of the same size, studio range, BT.601; the inverse of yuvToRgb.
void bgrToYuv(const ImageView& bgr, Image& yuv);

}  // namespace matte
