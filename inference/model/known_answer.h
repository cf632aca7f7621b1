// SPDX-License-Identifier: Apache-2.0
// KnownAnswer: a network's coarse matte of the test picture (inference/engine/self_test.h), as recorded in its model
// file under the metadata key `known_answer`. Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "inference/core/image.h"

namespace matte {

struct KnownAnswer {
    static constexpr int kSide = 16;  ///< the matte is divided into kSide x kSide cells
    static constexpr int kLeastSide = 32, kMostSide = 1024, kMostTolerance = 64;
    /// Mean alpha of each cell, 0 to 255, row by row.
    using Cells = std::array<std::uint8_t, std::size_t(kSide) * kSide>;

    Size input;         ///< size of the network's input and of the test picture
    int tolerance = 0;  ///< largest accepted difference of a cell
    Cells cells{};

    /// The metadata value: input size, tolerance and two hexadecimal digits per cell, "256x192 12 0a…".
    [[nodiscard]] std::string text() const;
    /// The inverse of text(); empty when `text` is malformed.
    static std::optional<KnownAnswer> parse(const std::string& text);
};

}  // namespace matte
