// SPDX-License-Identifier: Apache-2.0
#include "interop/gl_texture.h"

#include <GL/glew.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "inference/core/error.h"
#include "inference/matting/source_rows.h"

namespace matte {
namespace {

struct GlFormat {
    GLint internal;
    GLenum external;
};

GlFormat glFormat(PixelFormat format) {
    switch (format) {
        case PixelFormat::gray8: return {GL_R8, GL_RED};
        case PixelFormat::bgr8: return {GL_RGB8, GL_BGR};
        default: break;
    }
    return {GL_RGBA8, GL_RGBA};
}

// Bounds the pixel buffer: a 12-megapixel photo would otherwise hold 48 MB a second time.
constexpr std::ptrdiff_t kBandBytes = 16 << 20;

void copyRow(const std::uint8_t* from, std::uint8_t* to, int width, PixelFormat format) {
    if (format != PixelFormat::rgba8 || isOpaque(from, width)) {
        std::memcpy(to, from, std::size_t(width) * std::size_t(bytesPerPixel(format)));
        return;
    }
    for (int x = 0; x < width; ++x, from += 4, to += 4) {
        const unsigned alpha = from[3];
        for (int c = 0; c < 3; ++c) to[c] = std::uint8_t((from[c] * alpha + 127) / 255);
        to[3] = from[3];
    }
}

// Averages blocks of factor x factor pixels; what is left over at the right and bottom edges is dropped.
Image averagedDown(const ImageView& picture, int factor) {
    const Size size{std::max(1, picture.size.width / factor), std::max(1, picture.size.height / factor)};
    Image small(size, picture.format);
    const int channels = bytesPerPixel(picture.format);
    const int blockWidth = std::min(factor, picture.size.width), blockHeight = std::min(factor, picture.size.height);
    for (int y = 0; y < size.height; ++y) {
        for (int i = 0; i < size.width * channels; ++i) {
            const int x = i / channels, c = i % channels;
            unsigned sum = 0;
            for (int dy = 0; dy < blockHeight; ++dy) {
                const std::uint8_t* row = picture.row(y * blockHeight + dy) + c;
                for (int dx = 0; dx < blockWidth; ++dx) sum += row[(x * blockWidth + dx) * channels];
            }
            small.row(y)[i] = std::uint8_t(sum / unsigned(blockWidth * blockHeight));
        }
    }
    return small;
}

}  // namespace

void GlTexture::release() {
    if (texture_) glDeleteTextures(1, &texture_);
    if (unpackBuffer_) glDeleteBuffers(1, &unpackBuffer_);
    texture_ = unpackBuffer_ = 0;
    size_ = {};
}

void GlTexture::allocate(Size size, PixelFormat format) {
    if (texture_ && size == size_ && format == format_) return;
    if (size.longest() > facts_.maxTextureSide) {
        throw Error(ErrorCategory::engine, "The picture is larger than the graphics driver can hold");
    }
    release();
    glGenTextures(1, &texture_);
    glGenBuffers(1, &unpackBuffer_);
    glBindTexture(GL_TEXTURE_2D, texture_);
    const auto [internal, external] = glFormat(format);
    const int levels = std::bit_width(unsigned(size.longest()));
    if (facts_.immutableStorage) {
        glTexStorage2D(GL_TEXTURE_2D, levels, GLenum(internal), size.width, size.height);
    } else {
        glTexImage2D(GL_TEXTURE_2D, 0, internal, size.width, size.height, 0, external, GL_UNSIGNED_BYTE, nullptr);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, levels - 1);
    }
    if (format == PixelFormat::gray8) {
        const GLint swizzle[] = {GL_RED, GL_RED, GL_RED, GL_ONE};
        glTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_SWIZZLE_RGBA, swizzle);
    }
    try {
        checkGl("hold the picture");
    } catch (...) {
        release();
        throw;
    }
    size_ = size;
    format_ = format;
}

void GlTexture::copyRows(const ImageView& picture) {
    const std::ptrdiff_t rowBytes = std::ptrdiff_t(size_.width) * bytesPerPixel(format_);
    const int bandRows = int(std::clamp<std::ptrdiff_t>(kBandBytes / rowBytes, 1, size_.height));
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, unpackBuffer_);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    for (int y = 0; y < size_.height; y += bandRows) {
        const int rows = std::min(bandRows, size_.height - y);
        // Fresh storage for each band, so that the driver need not wait until it has read the last one.
        glBufferData(GL_PIXEL_UNPACK_BUFFER, rows * rowBytes, nullptr, GL_STREAM_DRAW);
        auto* mapped = static_cast<std::uint8_t*>(glMapBufferRange(GL_PIXEL_UNPACK_BUFFER, 0, rows * rowBytes,
                                                                   GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT));
        if (!mapped) break;  // the driver has recorded why, and upload() checks
        for (int i = 0; i < rows; ++i) copyRow(picture.row(y + i), mapped + i * rowBytes, size_.width, format_);
        glUnmapBuffer(GL_PIXEL_UNPACK_BUFFER);
        glTexSubImage2D(GL_TEXTURE_2D, 0, 0, y, size_.width, rows, glFormat(format_).external, GL_UNSIGNED_BYTE,
                        nullptr);
    }
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
}

void GlTexture::upload(const ImageView& picture) {
    // Tiling would keep every pixel of a picture beyond the limit (16384 on common drivers), yet such a panorama is
    // seen far below its size; export is made from the original and loses nothing.
    const int limit = facts_.maxTextureSide;
    if (picture.size.longest() > limit) {
        upload(averagedDown(picture, (picture.size.longest() + limit - 1) / limit).view());
        return;
    }
    allocate(picture.size, picture.format);
    glBindTexture(GL_TEXTURE_2D, texture_);
    copyRows(picture);
    glBindTexture(GL_TEXTURE_2D, 0);
    mipmapped_ = false;
    checkGl("take the picture");
}

void GlTexture::makeMipmaps() {
    if (mipmapped_) return;
    glBindTexture(GL_TEXTURE_2D, texture_);
    glGenerateMipmap(GL_TEXTURE_2D);
    glBindTexture(GL_TEXTURE_2D, 0);
    mipmapped_ = true;
}

void GlTexture::bind(int unit) const {
    glActiveTexture(GLenum(GL_TEXTURE0 + unit));
    glBindTexture(GL_TEXTURE_2D, texture_);
}

}  // namespace matte
