// SPDX-License-Identifier: Apache-2.0
// Reads one pixel of a picture in device memory, in any format but gray8.
#pragma once

#include "inference/cuda/pixels/pixels.h"
#include "inference/cuda/pixels/pixels_vector.cuh"

namespace matte::device {

/// Source as a kernel argument.
struct SourceRows {
    const std::uint8_t* data;
    std::ptrdiff_t stride;
    int height;
    explicit SourceRows(const Source& s) : data(s.data), stride(s.strideBytes), height(s.size.height) {}
    [[nodiscard]] const __device__ std::uint8_t* row(int y) const { return data + y * stride; }
};

__device__ inline uchar4 fromYuv(std::uint8_t y, std::uint8_t u, std::uint8_t v) {
    const Color rgb = yuvToRgb(float(y), float(u), float(v));
    return {toByte(rgb.r), toByte(rgb.g), toByte(rgb.b), 255};
}

/// The pixel as R, G, B, A bytes.
template <PixelFormat format>
__device__ uchar4 loadPixel(const SourceRows& source, int x, int y) {
    const std::uint8_t* const row = source.row(y);
    if constexpr (format == PixelFormat::rgba8) {
        return reinterpret_cast<const uchar4*>(row)[x];
    } else if constexpr (format == PixelFormat::bgr8) {
        const std::uint8_t* pixel = row + 3 * x;
        return {pixel[2], pixel[1], pixel[0], 255};
    } else if constexpr (format == PixelFormat::nv12) {
        const std::uint8_t* chroma = source.row(source.height + y / 2) + x / 2 * 2;
        return fromYuv(row[x], chroma[0], chroma[1]);
    } else {
        static_assert(format == PixelFormat::yuyv);
        const std::uint8_t* pair = row + x / 2 * 4;
        return fromYuv(pair[x % 2 * 2], pair[1], pair[3]);
    }
}

/// Calls body with the format as a template argument: body.template operator()<format>().
template <typename Body>
void withFormat(PixelFormat format, const Body& body) {
    switch (format) {
        case PixelFormat::rgba8: return body.template operator()<PixelFormat::rgba8>();
        case PixelFormat::bgr8: return body.template operator()<PixelFormat::bgr8>();
        case PixelFormat::nv12: return body.template operator()<PixelFormat::nv12>();
        case PixelFormat::yuyv: return body.template operator()<PixelFormat::yuyv>();
        case PixelFormat::gray8: return;  // not a format of Source
    }
}

}  // namespace matte::device
