// SPDX-License-Identifier: Apache-2.0
// Rows of an image or a tensor, and which of them a filter reads. Any thread.
#pragma once

#include <algorithm>

namespace matte {

/// Of a tensor or a picture: [first, last).
struct Rows {
    int first = 0, last = 0;
    [[nodiscard]] int count() const { return last - first; }
};

/// The rows that a filter of `side` reads for the output rows `out`, and how many of them lie beyond the input, whose
/// height is `height`, at either end.
struct Window {
    Rows rows;
    int above = 0, below = 0;
    Window(Rows out, int side, int stride, int height) {
        const int first = out.first * stride - side / 2, last = (out.last - 1) * stride - side / 2 + side;
        above = std::max(0, -first);
        below = std::max(0, last - height);
        rows = {std::max(first, 0), std::min(last, height)};
    }
};

/// `height` rows in `parts` of about the same size, each but the last a multiple of `unit`.
inline Rows regionOf(int height, int parts, int part, int unit) {
    const auto border = [&](int i) { return i == parts ? height : height / unit * i / parts * unit; };
    return {border(part), border(part + 1)};
}

}  // namespace matte
