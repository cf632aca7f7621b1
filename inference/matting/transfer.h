// SPDX-License-Identifier: Apache-2.0
// The sRGB transfer functions as lookup tables. Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "inference/core/pixel_math.h"

namespace matte {

/// 16 bits of linear light are enough to tell all 256 encoded values apart.
struct Transfer {
    std::array<float, 256> linear{};
    std::vector<std::uint8_t> encoded = std::vector<std::uint8_t>(65536);
    std::array<float, 1026> between{};  ///< linear light of i / 1024, for interpolation
    Transfer() {
        for (int i = 0; i < 256; ++i) linear[std::size_t(i)] = srgbToLinear(float(i) / 255);
        for (int i = 0; i < 65536; ++i) {
            encoded[std::size_t(i)] = std::uint8_t(linearToSrgb(float(i) / 65535) * 255 + 0.5F);
        }
        for (int i = 0; i < 1026; ++i) between[std::size_t(i)] = srgbToLinear(float(i) / 1024);
    }
    static constexpr float kSteps = 65535;
    /// The index into `encoded` of a linear value, clamped to 0 to 1.
    static int stepOf(float value) { return int(clampUnit(value) * kSteps + 0.5F); }
    [[nodiscard]] std::uint8_t encode(float value) const { return encoded[std::size_t(stepOf(value))]; }
    /// Linear light of any encoded value, clamped to 0 to 1; accurate to 1e-6.
    [[nodiscard]] float linearOf(float value) const {
        const float at = clampUnit(value) * 1024;
        const auto first = std::size_t(at);
        return mix(between[first], between[first + 1], at - float(first));
    }
};

inline const Transfer& transfer() {
    static const Transfer tables;
    return tables;
}

}  // namespace matte
