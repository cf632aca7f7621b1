// SPDX-License-Identifier: Apache-2.0
#include "inference/pipeline/privacy_placeholder.h"

#include <array>
#include <cstring>

#include "inference/matting/resample.h"

namespace matte {
namespace {

constexpr Rgb kDark{32, 32, 34};

Image filled(Size size, Rgb color, std::uint8_t alpha) {
    Image image(size, PixelFormat::rgba8);
    const std::array<std::uint8_t, 4> pixel{color.r, color.g, color.b, alpha};
    for (std::size_t i = 0; i < size.pixels(); ++i) std::memcpy(image.row(0) + 4 * i, pixel.data(), 4);
    return image;
}

Image draw(const Background& background, Size size) {
    switch (background.kind) {
        case Background::Kind::color: return filled(size, background.color, 255);
        case Background::Kind::transparent: return filled(size, {}, 0);
        case Background::Kind::image:
            if (!background.image) return filled(size, background.color, 255);
            return layInto(background.image->view(), size, background.placement, background.color, background.position);
        case Background::Kind::blur: break;
    }
    return filled(size, kDark, 255);
}

/// Whether both make the same placeholder.
bool alike(const Background& one, const Background& other) {
    return one.kind == other.kind && (one.kind == Background::Kind::blur || one == other);
}

}  // namespace

std::shared_ptr<const Picture> PrivacyPlaceholder::over(const Background& background, Size size) {
    if (!picture_ || !(picture_->size() == size) || !alike(background_, background)) {
        picture_ = std::make_shared<HostPicture>(std::make_shared<Image>(draw(background, size)));
        background_ = background;
    }
    return picture_;
}

}  // namespace matte
