// SPDX-License-Identifier: Apache-2.0
#include "inference/image.h"

#include <algorithm>
#include <cmath>
#include <new>

#include "inference/error.h"

namespace matte {

Size shrunkTo(Size size, int longest) {
    if (size.longest() <= longest) return size;
    const double scale = double(longest) / size.longest();
    return {std::max(1, int(std::lround(size.width * scale))), std::max(1, int(std::lround(size.height * scale)))};
}

Image::Image(Size size, PixelFormat format) : size_(size), format_(format) {
    if (size.width <= 0 || size.height <= 0 || size.pixels() > kMaxPixels) {
        throw Error(Area::input, "A picture of " + std::to_string(size.width) + "x" + std::to_string(size.height) +
                                     " pixels can't be held: scale it to at most 200 megapixels.");
    }
    pixels_.reset(new (std::nothrow) std::uint8_t[bytes()]);
    if (!pixels_) {
        throw Error(Area::input, "There is not enough memory for a picture of " + std::to_string(size.width) + "x" +
                                     std::to_string(size.height) + " pixels: close other programs or scale it down.");
    }
}

}  // namespace matte
