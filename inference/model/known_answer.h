// SPDX-License-Identifier: Apache-2.0
// KnownAnswer: the matte that a network gives for the test picture (inference/engine/self_test.h), on a coarse grid, as
// its model file states it in the metadata `known_answer`. Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "inference/core/image.h"

namespace matte {

struct KnownAnswer {
    static constexpr int kSide = 16;  ///< cells in a row and in a column of the matte
    static constexpr int kLeastSide = 32, kMostSide = 1024, kMostTolerance = 64;
    /// The mean of alpha in each cell, 0 to 255.
    using Cells = std::array<std::uint8_t, std::size_t(kSide) * kSide>;

    Size input;         ///< of the network, and of the picture
    int tolerance = 0;  ///< the largest difference of a cell
    Cells cells{};

    /// As known_answer has it: "256x192 12 " and two hexadecimal digits for each cell.
    [[nodiscard]] std::string text() const;
    /// Null for a malformed text.
    static std::optional<KnownAnswer> parse(const std::string& text);
};

}  // namespace matte
