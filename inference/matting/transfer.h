// SPDX-License-Identifier: Apache-2.0
// sRGB's transfer functions as tables. Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "inference/core/pixel_math.h"

namespace matte {

/// 16 bits of linear light keep every one of the 256 encoded values apart.
struct Transfer {
    std::array<float, 256> linear{};
    std::vector<std::uint8_t> encoded = std::vector<std::uint8_t>(65536);
    std::array<float, 1026> between{};  ///< linear light at every 1/1024 of encoded values
    Transfer() {
        for (int i = 0; i < 256; ++i) linear[std::size_t(i)] = srgbToLinear(float(i) / 255);
        for (int i = 0; i < 65536; ++i) {
            encoded[std::size_t(i)] = std::uint8_t(linearToSrgb(float(i) / 65535) * 255 + 0.5F);
        }
        for (int i = 0; i < 1026; ++i) between[std::size_t(i)] = srgbToLinear(float(i) / 1024);
    }
    static constexpr float kSteps = 65535;
    /// Where in `encoded` a value of 0 to 1 stands; less or more is cut.
    static int stepOf(float value) { return int(clampUnit(value) * kSteps + 0.5F); }
    [[nodiscard]] std::uint8_t encode(float value) const { return encoded[std::size_t(stepOf(value))]; }
    /// Of a value of 0 to 1 that is not one of the 256: right to 1e-6.
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
