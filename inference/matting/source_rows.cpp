// SPDX-License-Identifier: Apache-2.0
#include "inference/matting/source_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "inference/core/parallel.h"
#include "inference/core/vector_clones.h"

namespace matte {
namespace {

constexpr int kBlock = 64;

std::uint8_t toByte(float value) {
    return std::uint8_t(std::clamp(value + 0.5F, 0.0F, 255.0F));
}

/// `count` pixels of Y, U, V as one number each: the bytes R, G, B, A in memory.
MATTE_VECTOR_CLONES void packYuv(const float* y, const float* u, const float* v, int count, std::uint32_t* out) {
    for (int i = 0; i < count; ++i) {
        const Color color = yuvToRgb(y[i], u[i], v[i]);
        const auto byteOf = [](float value) {
            value += 0.5F;
            value = value < 0 ? 0.0F : value > 255 ? 255.0F : value;
            return std::uint32_t(int(value));
        };
        out[i] = byteOf(color.r) | byteOf(color.g) << 8 | byteOf(color.b) << 16 | 0xff000000U;
    }
}

void convertYuv(const ImageView& source, int y, std::uint8_t* out) {
    const bool nv12 = source.format == PixelFormat::nv12;
    const std::uint8_t* row = source.row(y);
    const std::uint8_t* chroma = nv12 ? source.row(source.size.height + y / 2) : row + 1;
    float light[kBlock], blue[kBlock], red[kBlock];
    std::uint32_t packed[kBlock];
    for (int begin = 0; begin < source.size.width; begin += kBlock) {
        const int count = std::min(kBlock, source.size.width - begin);
        for (int i = 0; i < count; i += 2) {
            const int x = begin + i;
            light[i] = nv12 ? row[x] : row[2 * x];
            light[i + 1] = nv12 ? row[x + 1] : row[2 * x + 2];
            blue[i] = blue[i + 1] = nv12 ? chroma[x] : chroma[2 * x];
            red[i] = red[i + 1] = nv12 ? chroma[x + 1] : chroma[2 * x + 2];
        }
        packYuv(light, blue, red, count, packed);
        std::memcpy(out + std::ptrdiff_t(begin) * 4, packed, std::size_t(count) * 4);
    }
}

void convertBgr(const std::uint8_t* row, int width, std::uint8_t* out) {
    int x = 0;
    if constexpr (std::endian::native == std::endian::little) {
        for (; x + 1 < width; ++x, row += 3, out += 4) {  // with a byte of the next pixel
            std::uint32_t bgr;
            std::memcpy(&bgr, row, 4);
            const std::uint32_t rgba = (bgr >> 16 & 0xffU) | (bgr & 0xff00U) | (bgr & 0xffU) << 16 | 0xff000000U;
            std::memcpy(out, &rgba, 4);
        }
    }
    for (; x < width; ++x, row += 3, out += 4) {
        out[0] = row[2];
        out[1] = row[1];
        out[2] = row[0];
        out[3] = 255;
    }
}

/// One channel of one pixel, premultiplied.
float premultiplied(const std::uint8_t* rgba, int channel) {
    return channel == 3 ? float(rgba[3]) : float(rgba[channel]) * float(rgba[3]) * (1.0F / 255);
}

MATTE_VECTOR_CLONES void mixBytes(
    const std::uint8_t* above, const std::uint8_t* below, float amount, int count, float* out) {
    for (int i = 0; i < count; ++i) out[i] = mix(float(above[i]), float(below[i]), amount);
}

}  // namespace

MATTE_VECTOR_CLONES bool isOpaque(const std::uint8_t* rgba, int width) {
    std::uint32_t all = ~0U;
    for (int x = 0; x < width; ++x) {  // whole pixels, as the processor has no use for every fourth byte
        std::uint32_t pixel;
        std::memcpy(&pixel, rgba + std::ptrdiff_t(4) * x, 4);
        all &= pixel;
    }
    std::uint8_t bytes[4];
    std::memcpy(bytes, &all, 4);
    return bytes[3] == 255;
}

const std::uint8_t* rgbaRow(const ImageView& source, int y, std::uint8_t* buffer) {
    switch (source.format) {
        case PixelFormat::rgba8: return source.row(y);
        case PixelFormat::bgr8: convertBgr(source.row(y), source.size.width, buffer); break;
        case PixelFormat::nv12:
        case PixelFormat::yuyv: convertYuv(source, y, buffer); break;
        case PixelFormat::gray8:
            for (int x = 0; x < source.size.width; ++x) {
                std::memset(buffer + 4 * x, source.row(y)[x], 3);
                buffer[4 * x + 3] = 255;
            }
            break;
    }
    return buffer;
}

ImageView RgbaFrame::of(const ImageView& source) {
    if (source.format == PixelFormat::rgba8) return source;
    if (!(converted_.size() == source.size)) converted_ = Image(source.size, PixelFormat::rgba8);
    parallelEach(source.size.height, [&](int y) { rgbaRow(source, y, converted_.row(y)); });
    return converted_.view();
}

PlacedRows::Tap PlacedRows::tapAt(float at, int pixels) {
    Tap tap;
    tap.seen = isSeen(at, pixels);
    const float inside = std::clamp(at, 0.0F, float(pixels - 1));
    tap.first = int(inside);
    tap.second = std::min(tap.first + 1, pixels - 1);
    tap.amount = inside - float(tap.first);
    return tap;
}

void PlacedRows::prepare(Size picture, const InverseMapping& mapping) {
    picture_ = picture;
    mapping_ = mapping;
    const auto width = std::size_t(picture.width);
    across_.resize(width);
    for (std::size_t x = 0; x < width; ++x) {
        across_[x] = tapAt(seenAt(mapping.perX, mapping.fromX, int(x), picture.width), picture.width);
    }
    whole_ = std::ranges::all_of(across_, [](const Tap& tap) { return tap.amount == 0; });
    for (auto* row : {&above_, &below_, &out_}) row->resize((width + 1) * 4);
    mixed_.resize(width * 4);
}

/// Two source rows into one of floats, premultiplied where they are not opaque.
void PlacedRows::mixRows(const std::uint8_t* above, const std::uint8_t* below, float amount) {
    const int width = picture_.width;
    opaque_ = isOpaque(above, width) && isOpaque(below, width);
    if (opaque_) return mixBytes(above, below, amount, 4 * width, mixed_.data());
    for (int x = 0; x < width; ++x) {
        for (int c = 0; c < 4; ++c) {
            mixed_[std::size_t(4 * x + c)] =
                mix(premultiplied(above + 4 * x, c), premultiplied(below + 4 * x, c), amount);
        }
    }
}

const std::uint8_t* PlacedRows::row(const ImageView& source, int y) {
    const int width = picture_.width;
    const Tap down = tapAt(seenAt(mapping_.perY, mapping_.fromY, y, picture_.height), picture_.height);
    if (!down.seen) {
        std::ranges::fill(out_, std::uint8_t(0));
        return out_.data();
    }
    const std::uint8_t* above = rgbaRow(source, down.first, above_.data());
    if (whole_ && down.amount == 0) {
        for (int x = 0; x < width; ++x) {
            const Tap& tap = across_[std::size_t(x)];
            if (tap.seen)
                std::memcpy(out_.data() + 4 * x, above + 4 * tap.first, 4);
            else
                std::memset(out_.data() + 4 * x, 0, 4);
        }
        return out_.data();
    }
    mixRows(above, rgbaRow(source, down.second, below_.data()), down.amount);
    for (int x = 0; x < width; ++x) {
        const Tap& tap = across_[std::size_t(x)];
        const float *left = mixed_.data() + std::ptrdiff_t(4) * tap.first,
                    *right = mixed_.data() + std::ptrdiff_t(4) * tap.second;
        float pixel[4];
        for (int c = 0; c < 4; ++c) pixel[c] = tap.seen ? mix(left[c], right[c], tap.amount) : 0.0F;
        const float scale = opaque_ ? 1.0F : pixel[3] > 0 ? 255 / pixel[3] : 0.0F;
        for (int c = 0; c < 3; ++c) out_[std::size_t(4 * x + c)] = toByte(pixel[c] * scale);
        out_[std::size_t(4 * x + 3)] = toByte(pixel[3]);
    }
    return out_.data();
}

}  // namespace matte
