// SPDX-License-Identifier: Apache-2.0
// Pictures in host memory: ImageView borrows pixels, Image owns them. Any thread; a shared Image is immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace matte {

/// Channel order in memory, one byte per channel, sRGB-encoded; rgba8 has straight (not premultiplied) alpha. nv12 and
/// yuyv are camera formats, studio range, BT.601. nv12: a plane of Y, then interleaved U, V at half the height; yuyv:
/// Y U Y V for every two pixels. Odd dimensions of both are rounded up to whole pairs.
enum class PixelFormat : std::uint8_t { gray8 = 1, bgr8, rgba8, nv12, yuyv };

/// Only for gray8, bgr8 and rgba8, whose channels lie side by side.
constexpr int bytesPerPixel(PixelFormat format) {
    return format == PixelFormat::gray8 ? 1 : format == PixelFormat::bgr8 ? 3 : 4;
}

struct Size {
    int width = 0, height = 0;
    bool operator==(const Size&) const = default;
    [[nodiscard]] std::size_t pixels() const { return std::size_t(width) * std::size_t(height); }
    [[nodiscard]] int longest() const { return width > height ? width : height; }
};

/// Bytes of a row without padding, and of a picture of such rows.
std::size_t packedStride(PixelFormat format, int width);
std::size_t packedBytes(PixelFormat format, Size size);

/// `size` shrunk to a longest side of at most `longest`, with the same aspect ratio; at least 1x1, never enlarged.
Size shrunkTo(Size size, int longest);

/// A non-owning view of pixels.
struct ImageView {
    const std::uint8_t* data = nullptr;
    Size size;
    std::ptrdiff_t strideBytes = 0;
    PixelFormat format = PixelFormat::rgba8;
    [[nodiscard]] const std::uint8_t* row(int y) const { return data + y * strideBytes; }
};

/// An allocator for pixels: by default plain memory; for GPU engines, sources get page-locked memory.
struct PixelMemory {
    std::uint8_t* (*take)(std::size_t bytes) = nullptr;  ///< returns null when memory is exhausted
    void (*giveBack)(std::uint8_t* pixels) = nullptr;
};

/// A picture that owns its pixels, in packed rows. Throws Error(input) when it can't be allocated.
class Image {
public:
    /// Maximum number of pixels; readers refuse larger pictures.
    static constexpr std::size_t kMaxPixels = 200'000'000;

    Image() = default;
    Image(Size size, PixelFormat format, PixelMemory memory = {});  // pixels undefined

    [[nodiscard]] Size size() const { return size_; }
    [[nodiscard]] PixelFormat format() const { return format_; }
    [[nodiscard]] bool empty() const { return !pixels_; }
    [[nodiscard]] std::ptrdiff_t strideBytes() const { return std::ptrdiff_t(packedStride(format_, size_.width)); }
    [[nodiscard]] std::size_t bytes() const { return packedBytes(format_, size_); }
    [[nodiscard]] std::uint8_t* row(int y) { return pixels_.get() + y * strideBytes(); }
    [[nodiscard]] const std::uint8_t* row(int y) const { return pixels_.get() + y * strideBytes(); }
    [[nodiscard]] ImageView view() const { return {pixels_.get(), size_, strideBytes(), format_}; }

private:
    Size size_;
    PixelFormat format_ = PixelFormat::rgba8;
    struct GiveBack {
        void (*function)(std::uint8_t*);
        void operator()(std::uint8_t* pixels) const { function(pixels); }
    };
    std::unique_ptr<std::uint8_t[], GiveBack> pixels_;
};

/// A tensor of floats, [height, width, channels], for the data between an engine's stages.
struct Planes {
    Size size;
    int channels = 0;
    std::vector<float> values;
    Planes() = default;
    Planes(Size s, int c) : size(s), channels(c), values(s.pixels() * std::size_t(c)) {}
    [[nodiscard]] float* row(int y) {
        return values.data() + std::size_t(y) * std::size_t(size.width) * std::size_t(channels);
    }
    [[nodiscard]] const float* row(int y) const {
        return values.data() + std::size_t(y) * std::size_t(size.width) * std::size_t(channels);
    }
};

/// Whether no value is infinite or NaN.
bool allFinite(std::span<const float> values);

}  // namespace matte
