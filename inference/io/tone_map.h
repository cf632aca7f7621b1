// SPDX-License-Identifier: Apache-2.0
// ToneMap: pictures of high dynamic range, as telephones film them, for screens of the usual one. Light up to that of a
// sheet of paper stays nearly as it is, what is brighter is compressed, and colours that sRGB lacks are cut. Any
// thread.
//
// ITU-R BT.2100 (both transfers), BT.2408 (reference white: 203 cd/m2), BT.2390 section 5.4 (the compression), BT.2087
// (BT.2020's primaries to BT.709's), IEC 61966-2-1 (sRGB).
#pragma once

#include <cstdint>
#include <vector>

namespace matte {

class ToneMap {
public:
    enum class Transfer { hlg = 1, pq };
    explicit ToneMap(Transfer transfer);

    [[nodiscard]] Transfer transfer() const { return transfer_; }
    /// The whole signal, as swscale has it in 16 bits.
    static constexpr int kWhole = 255 << 8;
    /// One row: B, G, R of 0 to kWhole in BT.2020's primaries to bgr8 in sRGB.
    void apply(const std::uint16_t* from, std::uint8_t* to, int pixels) const;

private:
    static constexpr int kSteps = 4096;

    Transfer transfer_;
    std::vector<float> light_;   ///< of each value: of the scene with HLG, of the screen with PQ
    std::vector<float> system_;  ///< HLG: from the scene's light to the screen's, by the scene's luminance
    std::vector<float> gain_;    ///< by the brightest of a pixel's three, 0 to kPeak
    std::vector<std::uint8_t> encoded_;
};

}  // namespace matte
