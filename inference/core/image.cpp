// SPDX-License-Identifier: Apache-2.0
#include "inference/core/image.h"

#include <algorithm>
#include <cmath>
#include <new>

#include "inference/core/error.h"

namespace matte {

Size shrunkTo(Size size, int longest) {
    if (size.longest() <= longest) return size;
    const double scale = double(longest) / size.longest();
    return {std::max(1, int(std::lround(size.width * scale))), std::max(1, int(std::lround(size.height * scale)))};
}

std::size_t packedStride(PixelFormat format, int width) {
    const std::size_t pairs = (std::size_t(width) + 1) / 2;
    switch (format) {
        case PixelFormat::nv12: return pairs * 2;
        case PixelFormat::yuyv: return pairs * 4;
        default: return std::size_t(width) * std::size_t(bytesPerPixel(format));
    }
}

std::size_t packedBytes(PixelFormat format, Size size) {
    const auto rows = std::size_t(size.height);
    return packedStride(format, size.width) * (format == PixelFormat::nv12 ? rows + (rows + 1) / 2 : rows);
}

Image::Image(Size size, PixelFormat format, PixelMemory memory) : size_(size), format_(format) {
    if (size.width <= 0 || size.height <= 0 || size.pixels() > kMaxPixels) {
        throw Error(ErrorCategory::input, "A picture of " + std::to_string(size.width) + "x" +
                                              std::to_string(size.height) +
                                              " pixels can't be held: scale it to at most 200 megapixels.");
    }
    if (!memory.take) {
        memory = {[](std::size_t bytes) { return new (std::nothrow) std::uint8_t[bytes]; },
                  [](std::uint8_t* pixels) { delete[] pixels; }};
    }
    pixels_ = {memory.take(bytes()), GiveBack{memory.giveBack}};
    if (!pixels_) {
        throw Error(ErrorCategory::input, "There is not enough memory for a picture of " + std::to_string(size.width) +
                                              "x" + std::to_string(size.height) +
                                              " pixels: close other programs or scale it down.");
    }
}

bool allFinite(std::span<const float> values) {
    return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

}  // namespace matte
