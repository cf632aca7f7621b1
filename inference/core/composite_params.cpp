// SPDX-License-Identifier: Apache-2.0
#include "inference/core/composite_params.h"

#include <charconv>
#include <cstdio>
#include <iterator>

#include "inference/core/error.h"

namespace matte {
namespace {

[[noreturn]] void refuse(std::string_view text) {
    throw Error(ErrorCategory::usage,
                "'" + std::string(text) +
                    "' is not a background: use blur, blur:N (1 to 100), color:#rrggbb, image:PATH, video:PATH, "
                    "transparent, or a path such as ./beach.jpg.");
}

}  // namespace

Rgb parseColor(std::string_view text) {
    unsigned value = 0;
    const char* end = text.data() + text.size();
    const bool ok = text.size() == 7 && text[0] == '#' && std::from_chars(text.data() + 1, end, value, 16).ptr == end;
    if (!ok)
        throw Error(ErrorCategory::usage,
                    "'" + std::string(text) + "' is not a colour: write it as #rrggbb, such as #00b140.");
    return {std::uint8_t(value >> 16), std::uint8_t(value >> 8 & 255), std::uint8_t(value & 255)};
}

Background parseBackground(std::string_view text) {
    Background background;
    const auto colon = text.find(':');
    const std::string_view kind = text.substr(0, colon);
    const std::string_view value = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
    const bool hasValue = colon != std::string_view::npos;
    if (kind == "blur") {
        background.kind = Background::Kind::blur;
        if (hasValue) {
            const auto [end, error] =
                std::from_chars(value.data(), value.data() + value.size(), background.blurStrength);
            const bool whole = error == std::errc{} && end == value.data() + value.size();
            if (!whole || !(background.blurStrength >= 1 && background.blurStrength <= 100)) refuse(text);
        }
    } else if (kind == "color") {
        background.kind = Background::Kind::color;
        background.color = parseColor(value);
    } else if (kind == "image" || kind == "video") {
        if (value.empty()) refuse(text);
        background.kind = Background::Kind::image;
        background.imagePath = value;
        background.moving = kind == "video";
    } else if (kind == "transparent") {
        if (hasValue) refuse(text);
        background.kind = Background::Kind::transparent;
    } else if (text.find_first_of("/.") != std::string_view::npos) {
        background.kind = Background::Kind::image;
        background.imagePath = text;
    } else {
        refuse(text);
    }
    return background;
}

std::string toString(const Background& background) {
    char text[32];
    switch (background.kind) {
        case Background::Kind::blur:
            // As short as reads back the same, whatever the locale.
            return "blur:" + std::string(text, std::to_chars(text, std::end(text), background.blurStrength).ptr);
        case Background::Kind::color:
            std::snprintf(text, sizeof text, "color:#%02x%02x%02x", background.color.r, background.color.g,
                          background.color.b);
            return text;
        case Background::Kind::image: return (background.moving ? "video:" : "image:") + background.imagePath;
        case Background::Kind::transparent: break;
    }
    return "transparent";
}

}  // namespace matte
