// SPDX-License-Identifier: Apache-2.0
// Pixels that hang together. Any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "inference/core/image.h"

namespace matte {

/// Marks, in [h, w] like `open`, the largest region of `open` pixels (the first of those as large) that are neighbours
/// along an axis; nothing where none is open.
std::vector<std::uint8_t> largestRegion(std::vector<std::uint8_t> open, Size size);

}  // namespace matte
