// SPDX-License-Identifier: Apache-2.0
// ToneMap: maps pictures of high dynamic range or a wide gamut, as telephones film them, to sRGB. Light up to reference
// white stays nearly as it is, brighter light is compressed, and colours outside sRGB are clipped.
// Any thread.
//
// ITU-R BT.2100 (both transfers), BT.2408 (reference white: 203 cd/m2), BT.2390 section 5.4 (the compression), BT.2087
// (BT.2020's primaries to BT.709's), SMPTE EG 432-1 (Display P3's), IEC 61966-2-1 (sRGB).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace matte {

class ToneMap {
public:
    enum class Transfer { usual = 1, hlg, pq };
    enum class Primaries { bt2020 = 1, p3 };
    /// Of the usual range, greys stay exactly as they are.
    struct Signal {
        Transfer transfer = Transfer::usual;
        Primaries primaries = Primaries::bt2020;
        bool operator==(const Signal&) const = default;
    };
    explicit ToneMap(const Signal& signal);

    [[nodiscard]] const Signal& signal() const { return signal_; }
    /// The whole signal, as swscale has it in 16 bits.
    static constexpr int kWhole = 255 << 8;
    /// One row: B, G, R of 0 to kWhole to bgr8 in sRGB.
    void apply(const std::uint16_t* from, std::uint8_t* to, int pixels) const;

private:
    static constexpr int kSteps = 4096;

    Signal signal_;
    std::array<float, 9> toBt709_{};  ///< red, green and blue of each
    std::vector<float> light_;        ///< of each value: of the scene with HLG, of the screen otherwise
    std::vector<float> system_;       ///< HLG: from the scene's light to the screen's, by the scene's luminance
    std::vector<float> gain_;         ///< by the brightest of a pixel's three, 0 to kPeak
    std::vector<std::uint8_t> encoded_;
};

}  // namespace matte
