// SPDX-License-Identifier: Apache-2.0
// The samples of a decoded picture as rgba8 in sRGB: everything else here takes pixels for that, and so do the programs
// that open what is saved. By Little CMS, relative colorimetric with black-point compensation, as browsers show
// pictures; libvips's own transform loses shadows of 16 bits and of grey, for it asks Little CMS for tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace matte {

/// Interleaved: the colour (1: grey; 3: R, G, B; 4: cyan, magenta, yellow, black, where 0 is no ink), then an alpha.
struct SampleLayout {
    int colors = 3;
    bool hasAlpha = false;
    bool isDeep = false;  ///< 16 bits, of the machine's order
    [[nodiscard]] int channels() const { return colors + (hasAlpha ? 1 : 0); }
};

/// Made by one thread; used by any number at a time.
class ColorConverter {
public:
    /// A damaged ICC profile, or one of other channels than the picture's, is as good as none: grey and R, G, B are
    /// sRGB's then, and inks let through the light that is not theirs.
    ColorConverter(const SampleLayout& layout, std::span<const std::uint8_t> profile);

    void convert(const std::uint8_t* from, std::uint8_t* rgba, int width) const;
    /// Whether a row takes so long that several threads are worth it.
    [[nodiscard]] bool isSlow() const { return transform_ != nullptr; }

private:
    struct Delete {
        void operator()(void* transform) const;
    };
    SampleLayout layout_;
    std::unique_ptr<void, Delete> transform_;  ///< null: the colours are sRGB's
};

}  // namespace matte
