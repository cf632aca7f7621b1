// SPDX-License-Identifier: Apache-2.0
// The composite of one pixel, defined once for every backend: alpha and colours from the guided-filter coefficients,
// mixed in linear light. Host and device; any thread.
#pragma once

#include <cstdint>

#include "inference/matting/resolve.h"

namespace matte {

/// sRGB-encoded, straight alpha; 4-byte aligned.
struct alignas(4) Rgba {
    std::uint8_t r = 0, g = 0, b = 0, a = 0;
};

/// Alpha, 0 to 1, by the guided filter's linear model: the coefficients' dot product with (r, g, b, 1).
template <typename Coefficients>
MATTE_HOST_DEVICE inline float guidedAlpha(const Coefficients& c, Rgba pixel) {
    constexpr float kScale = 1.0F / 255;
    return clampUnit(c.x * kScale * float(pixel.r) + c.y * kScale * float(pixel.g) + c.z * kScale * float(pixel.b) +
                     c.w);
}

/// A pixel of the matte: 255 is the person.
MATTE_HOST_DEVICE inline std::uint8_t mattePixel(float found, Edge edge, Rgba pixel) {
    return std::uint8_t(shapeAlpha(found, edge) * float(pixel.a) + 0.5F);
}

/// Composites `pixel`, a pixel of the (transformed) source, over its new background. `At` supplies the values at this
/// pixel, in linear light, and is called only for those needed:
///   float alpha(Rgba)            guidedAlpha()
///   Color foreground()           local colour of the person
///   Color background()           local colour of the old background
///   Color wrap()                 light wrap
///   Color behind()               the new background; not called when it is transparent
///   Color linear(Rgba)           srgbToLinear() per channel
///   std::uint8_t encode(float)   linearToSrgb(), clamped to 0 to 1, then scaled to 255
template <typename At>
MATTE_HOST_DEVICE inline Rgba compositePixel(const At& at, const ResolvedParams& params, Rgba pixel) {
    const float found = at.alpha(pixel), shown = shapeAlpha(found, params.edge);
    const float alpha = shown * float(pixel.a) * (1.0F / 255);
    const std::uint8_t opacity = params.isTransparent() ? std::uint8_t(alpha * 255 + 0.5F) : 255;
    Color light{};
    bool lit = false;
    if (params.isLit() && alpha > 0) {
        light = at.wrap();
        lit = light.r + light.g + light.b > kNoLight;
    }
    // Most pixels are fully on one side; those of the person keep the source's colour.
    if (alpha >= 1 && !lit) return {pixel.r, pixel.g, pixel.b, opacity};
    const Color behind = params.isTransparent() ? Color{} : at.behind();
    Color color = behind;
    if (alpha > 0) {
        color = at.linear(pixel);
        if (params.decontaminate && shown < 1) {
            const float own = ownShare(found, shown);
            const Color person = at.foreground(), room = at.background();
            color = {foregroundColor(color.r, own, person.r, room.r), foregroundColor(color.g, own, person.g, room.g),
                     foregroundColor(color.b, own, person.b, room.b)};
        }
        if (lit) {
            color = {wrapped(color.r, light.r, params.lightWrap), wrapped(color.g, light.g, params.lightWrap),
                     wrapped(color.b, light.b, params.lightWrap)};
        }
    }
    if (!params.isTransparent()) {
        color = {mix(behind.r, color.r, alpha), mix(behind.g, color.g, alpha), mix(behind.b, color.b, alpha)};
    }
    return {at.encode(color.r), at.encode(color.g), at.encode(color.b), opacity};
}

}  // namespace matte
