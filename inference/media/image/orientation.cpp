// SPDX-License-Identifier: Apache-2.0
#include "inference/media/image/orientation.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "inference/media/image/picture_metadata.h"
#include "inference/media/image/tiff_directory.h"

namespace matte {
namespace {

constexpr std::uint16_t kOrientationTag = 274;

/// Where in `stored` the pixel of the upright picture at (x, y) is: origin + x * stepX + y * stepY, in pixels.
struct Walk {
    std::ptrdiff_t origin, stepX, stepY;
};

Walk walkOf(int orientation, std::ptrdiff_t width, std::ptrdiff_t height) {
    const std::ptrdiff_t right = width - 1, bottom = (height - 1) * width;
    switch (orientation) {
        case 2: return {right, -1, width};            // mirrored
        case 3: return {right + bottom, -1, -width};  // turned by 180 degrees
        case 4: return {bottom, 1, -width};           // upside down
        case 5: return {0, width, 1};                 // transposed
        case 6: return {bottom, -width, 1};           // to be turned clockwise
        case 7: return {right + bottom, -width, -1};  // transposed about the other diagonal
        case 8: return {right, width, -1};            // to be turned anticlockwise
        default: return {0, 1, width};
    }
}

}  // namespace

int exifOrientation(std::span<const std::uint8_t> bytes) {
    const auto directory = TiffDirectory::open(exifOf(bytes));
    const std::uint32_t orientation = directory ? directory->valueOf(kOrientationTag, 1) : 1;
    return orientation >= 1 && orientation <= 8 ? int(orientation) : 1;
}

Image turnedUpright(Image stored, int orientation) {
    if (orientation <= 1) return stored;
    const Size from = stored.size();
    const Size to = orientation >= 5 ? Size{from.height, from.width} : from;
    const Walk walk = walkOf(orientation, from.width, from.height);
    Image upright(to, PixelFormat::rgba8);
    // Square tiles: a transposition that runs along whole rows would miss the cache at every pixel.
    constexpr int kTile = 32;
    for (int tileY = 0; tileY < to.height; tileY += kTile) {
        for (int tileX = 0; tileX < to.width; tileX += kTile) {
            const int endX = std::min(tileX + kTile, to.width);
            for (int y = tileY; y < std::min(tileY + kTile, to.height); ++y) {
                std::uint8_t* out = upright.row(y) + std::ptrdiff_t(tileX) * 4;
                for (int x = tileX; x < endX; ++x, out += 4) {
                    std::memcpy(out, stored.row(0) + (walk.origin + x * walk.stepX + y * walk.stepY) * 4, 4);
                }
            }
        }
    }
    return upright;
}

}  // namespace matte
