// SPDX-License-Identifier: Apache-2.0
#include "inference/model/known_answer.h"

#include <charconv>
#include <sstream>

namespace matte {

std::string KnownAnswer::text() const {
    std::string text =
        std::to_string(input.width) + "x" + std::to_string(input.height) + " " + std::to_string(tolerance) + " ";
    for (const std::uint8_t cell : cells) {
        for (const int digit : {cell >> 4, cell & 15}) text += "0123456789abcdef"[digit];
    }
    return text;
}

std::optional<KnownAnswer> KnownAnswer::parse(const std::string& text) {
    KnownAnswer answer;
    char by = 0;
    std::string digits, rest;
    std::istringstream stream(text);
    stream.imbue(std::locale::classic());
    stream >> answer.input.width >> by >> answer.input.height >> answer.tolerance >> digits;
    if (!stream || by != 'x' || stream >> rest || digits.size() != 2 * answer.cells.size()) return std::nullopt;
    for (const int side : {answer.input.width, answer.input.height}) {
        if (side < kLeastSide || side > kMostSide) return std::nullopt;
    }
    if (answer.tolerance < 1 || answer.tolerance > kMostTolerance) return std::nullopt;
    for (std::size_t i = 0; i < answer.cells.size(); ++i) {
        const char* const begin = digits.data() + 2 * i;
        if (std::from_chars(begin, begin + 2, answer.cells[i], 16).ptr != begin + 2) return std::nullopt;
    }
    return answer;
}

}  // namespace matte
