// SPDX-License-Identifier: Apache-2.0
#include "inference/media/frame_convert.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "inference/core/error.h"

namespace matte {
namespace {

int halfUp(int length) {
    return (length + 1) / 2;
}

struct EncodingFacts {
    const char* name;
    std::optional<PixelFormat> frame;  ///< what a picture becomes; empty: it can't be read
    int pixelBytes;                    ///< of a pixel in the first plane; 0: no rows
    bool inPairs;                      ///< rows hold an even number of pixels
    int cost;                          ///< of reading a picture: raw YUV stays, RGB is larger, MJPG is decoded
};
constexpr std::array<EncodingFacts, std::size_t(Encoding::other) + 1> kEncodings{
    {{"any format", {}, 0, false, 8},
     {"MJPG", PixelFormat::rgba8, 0, false, 7},
     {"YUYV", PixelFormat::yuyv, 2, true, 1},
     {"UYVY", PixelFormat::yuyv, 2, true, 2},
     {"NV12", PixelFormat::nv12, 1, true, 0},
     {"I420", PixelFormat::nv12, 1, false, 3},
     {"BGR", PixelFormat::bgr8, 3, false, 4},
     {"RGB", PixelFormat::bgr8, 3, false, 5},
     {"BGRA", PixelFormat::rgba8, 4, false, 6},
     {"RGBA", PixelFormat::rgba8, 4, false, 6},
     {"H264", PixelFormat::bgr8, 0, false, 8},
     {"another format", {}, 0, false, 8}}};

const EncodingFacts& factsOf(Encoding encoding) {
    return kEncodings[std::size_t(encoding)];
}

/// Bytes of one row of the first plane.
std::size_t rowBytes(Encoding encoding, int width) {
    const EncodingFacts& facts = factsOf(encoding);
    return std::size_t(facts.pixelBytes) * std::size_t(facts.inPairs ? 2 * halfUp(width) : width);
}

void copyI420(const RawPicture& picture, Image& frame) {
    const Size size = picture.size;
    const int pairs = halfUp(size.width), chromaRows = halfUp(size.height);
    const std::ptrdiff_t chromaStride = (picture.strideBytes + 1) / 2;
    const std::uint8_t* from = picture.bytes.data();
    for (int y = 0; y < size.height; ++y) {
        std::memcpy(frame.row(y), from + y * picture.strideBytes, std::size_t(size.width));
    }
    const std::uint8_t* u = from + size.height * picture.strideBytes;
    const std::uint8_t* v = u + chromaRows * chromaStride;
    for (int y = 0; y < chromaRows; ++y) {
        std::uint8_t* out = frame.row(size.height + y);
        for (int x = 0; x < pairs; ++x) {
            out[2 * x] = u[y * chromaStride + x];
            out[2 * x + 1] = v[y * chromaStride + x];
        }
    }
}

/// One row of an encoding whose pixels lie together.
void copyRow(Encoding encoding, const std::uint8_t* in, std::uint8_t* out, int width) {
    switch (encoding) {
        case Encoding::uyvy:
            for (int i = 0; i < halfUp(width) * 4; i += 2) {
                out[i] = in[i + 1];
                out[i + 1] = in[i];
            }
            return;
        case Encoding::rgb:
            for (int x = 0; x < width; ++x, in += 3, out += 3) {
                out[0] = in[2];
                out[1] = in[1];
                out[2] = in[0];
            }
            return;
        case Encoding::bgra:
        case Encoding::rgba:  // what cameras leave in the fourth byte means nothing
            for (int x = 0; x < width; ++x, in += 4, out += 4) {
                out[0] = encoding == Encoding::bgra ? in[2] : in[0];
                out[1] = in[1];
                out[2] = encoding == Encoding::bgra ? in[0] : in[2];
                out[3] = 255;
            }
            return;
        default: std::memcpy(out, in, rowBytes(encoding, width));
    }
}

struct Yuv {
    float y = 0, u = 0, v = 0;
};
Yuv yuvOf(const std::uint8_t* bgr) {
    const float b = bgr[0], g = bgr[1], r = bgr[2];
    return {16 + 0.256788F * r + 0.504129F * g + 0.097906F * b, 128 - 0.148223F * r - 0.290993F * g + 0.439216F * b,
            128 + 0.439216F * r - 0.367788F * g - 0.071427F * b};
}
std::uint8_t byteOf(float value) {
    return std::uint8_t(std::clamp(value, 0.0F, 255.0F) + 0.5F);
}

}  // namespace

std::string nameOf(Encoding encoding) {
    return factsOf(encoding).name;
}

bool isReadable(Encoding encoding) {
    return factsOf(encoding).frame.has_value();
}

int readingCost(Encoding encoding) {
    return factsOf(encoding).cost;
}

PixelFormat frameFormat(Encoding encoding) {
    if (isReadable(encoding)) return *factsOf(encoding).frame;
    throw Error(ErrorCategory::source, "The camera sends " + nameOf(encoding) +
                                           ", which can't be read: choose another format in its settings.");
}

std::ptrdiff_t packedRawStride(Encoding encoding, int width) {
    return std::ptrdiff_t(rowBytes(encoding, width));
}

std::size_t rawBytes(Encoding encoding, Size size, std::ptrdiff_t strideBytes) {
    // The last row need not have its padding.
    const auto stride = std::size_t(strideBytes), rows = std::size_t(size.height);
    const std::size_t luma = (rows - 1) * stride + rowBytes(encoding, size.width);
    const auto chromaRows = std::size_t(halfUp(size.height));
    switch (encoding) {
        case Encoding::nv12: return rows * stride + (chromaRows - 1) * stride + rowBytes(encoding, size.width);
        case Encoding::i420:
            return rows * stride + (2 * chromaRows - 1) * ((stride + 1) / 2) + std::size_t(halfUp(size.width));
        default: return luma;
    }
}

bool isPossible(Encoding encoding, Size size, std::ptrdiff_t strideBytes) {
    return size.width > 0 && size.height > 0 && size.pixels() <= Image::kMaxPixels &&
           (strideBytes == 0 || strideBytes >= packedRawStride(encoding, size.width));
}

bool copyRaw(const RawPicture& picture, Image& frame) {
    const std::size_t row = rowBytes(picture.encoding, picture.size.width);
    if (row == 0 || picture.size.width <= 0 || picture.size.height <= 0 || picture.strideBytes < std::ptrdiff_t(row) ||
        picture.bytes.size() < rawBytes(picture.encoding, picture.size, picture.strideBytes) ||
        frame.size() != picture.size || frame.format() != frameFormat(picture.encoding)) {
        return false;
    }
    if (picture.encoding == Encoding::i420) {
        copyI420(picture, frame);
        return true;
    }
    const int rows =
        picture.encoding == Encoding::nv12 ? picture.size.height + halfUp(picture.size.height) : picture.size.height;
    for (int y = 0; y < rows; ++y) {
        copyRow(picture.encoding, picture.bytes.data() + y * picture.strideBytes, frame.row(y), picture.size.width);
    }
    return true;
}

void bgrToYuv(const ImageView& bgr, Image& yuv) {
    const Size size = bgr.size;
    const bool nv12 = yuv.format() == PixelFormat::nv12;
    const int blockRows = nv12 ? 2 : 1;
    // Colour is the mean over two pixels, in nv12 over two rows of them; an odd side repeats its last pixels.
    for (int y = 0; y < size.height; y += blockRows) {
        for (int x = 0; x < size.width; x += 2) {
            Yuv mean;
            for (int dy = 0; dy < blockRows; ++dy) {
                for (int dx = 0; dx < 2; ++dx) {
                    const int row = std::min(y + dy, size.height - 1), column = std::min(x + dx, size.width - 1);
                    const Yuv pixel = yuvOf(bgr.row(row) + std::ptrdiff_t(column) * 3);
                    if (nv12) {
                        yuv.row(row)[x + dx] = byteOf(pixel.y);
                    } else {
                        yuv.row(y)[2 * x + 2 * dx] = byteOf(pixel.y);
                    }
                    mean.u += pixel.u / float(2 * blockRows);
                    mean.v += pixel.v / float(2 * blockRows);
                }
            }
            std::uint8_t* chroma = nv12 ? yuv.row(size.height + y / 2) + x : yuv.row(y) + std::ptrdiff_t(2) * x + 1;
            chroma[0] = byteOf(mean.u);
            chroma[nv12 ? 1 : 2] = byteOf(mean.v);
        }
    }
}

}  // namespace matte
