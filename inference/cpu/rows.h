// SPDX-License-Identifier: Apache-2.0
// Row ranges of pictures and tensors, and the input rows of a convolution. Any thread.
#pragma once

#include <algorithm>

namespace matte {

/// [first, last).
struct Rows {
    int first = 0, last = 0;
    [[nodiscard]] int count() const { return last - first; }
};

/// The input rows that a filter of `side` reads for the output rows `out`, clipped to the input's `height`, and the
/// numbers of padding rows above and below.
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

/// Part `part` of `height` rows divided into `parts` of similar size; all sizes but the last are multiples of `unit`.
inline Rows regionOf(int height, int parts, int part, int unit) {
    const auto border = [&](int i) { return i == parts ? height : height / unit * i / parts * unit; };
    return {border(part), border(part + 1)};
}

}  // namespace matte
