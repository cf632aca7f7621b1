// SPDX-License-Identifier: Apache-2.0
// Pictures in host memory: ImageView looks, Image owns. Any thread; an Image is not changed once it is shared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace matte {

/// Channel order in memory, one byte a channel, sRGB-encoded; rgba8 carries straight (not premultiplied) alpha. nv12
/// and yuyv are what cameras send, studio range, BT.601: nv12 has rows of Y, then at half the height rows of U, V
/// pairs; yuyv has Y U Y V for each two pixels. Odd sides of both are rounded up to whole pairs.
enum class PixelFormat : std::uint8_t { gray8 = 1, bgr8, rgba8, nv12, yuyv };

/// Whether each pixel has bytes of its own.
constexpr bool isInterleaved(PixelFormat format) {
    return format == PixelFormat::gray8 || format == PixelFormat::bgr8 || format == PixelFormat::rgba8;
}
/// Of an interleaved format.
constexpr int bytesPerPixel(PixelFormat format) {
    return format == PixelFormat::gray8 ? 1 : format == PixelFormat::bgr8 ? 3 : 4;
}

struct Size {
    int width = 0, height = 0;
    bool operator==(const Size&) const = default;
    [[nodiscard]] std::size_t pixels() const { return std::size_t(width) * std::size_t(height); }
    [[nodiscard]] int longest() const { return width > height ? width : height; }
};

/// Bytes of a row without padding, and of a whole picture of such rows.
std::size_t packedStride(PixelFormat format, int width);
std::size_t packedBytes(PixelFormat format, Size size);

/// `size` shrunk so that its longest side is at most `longest`, the shape kept; never smaller than 1x1, never enlarged.
Size shrunkTo(Size size, int longest);

/// Rows of pixels that somebody else owns.
struct ImageView {
    const std::uint8_t* data = nullptr;
    Size size;
    std::ptrdiff_t strideBytes = 0;
    PixelFormat format = PixelFormat::rgba8;
    [[nodiscard]] const std::uint8_t* row(int y) const { return data + y * strideBytes; }
};

/// Where pixels are kept: by default plain memory; a source of frames may be given page-locked memory for the GPU.
struct PixelMemory {
    std::uint8_t* (*take)(std::size_t bytes) = nullptr;  ///< null when there is no more
    void (*giveBack)(std::uint8_t* pixels) = nullptr;
};

/// A picture that owns its pixels; rows are packed. Throws Error(input) when the memory for it can't be had.
class Image {
public:
    /// The most pixels that a picture may have: anything larger is refused where it is read.
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

/// Rows of interleaved floats: [height, width, channels]. What the engine keeps between its stages.
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

/// Whether no value is infinite or no number.
bool allFinite(std::span<const float> values);

}  // namespace matte
