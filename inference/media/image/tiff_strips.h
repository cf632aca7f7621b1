// SPDX-License-Identifier: Apache-2.0
// Whether the compressed data of a TIFF's strip or tile is as long as its pixels. libtiff stops when it has enough of
// them: after a damaged byte the rest of a strip may be garbage, and the data left over is the only sign. TIFF 6.0,
// sections 9 and 13; Adobe Photoshop TIFF Technical Notes (Deflate). Any thread.
#pragma once

#include <cstdint>
#include <span>

namespace matte {

/// Whether `data` is whole and unpacks to `least` to `most` bytes, or a few more by which some programs pad it. True
/// for a compression other than LZW, Deflate and PackBits, about which nothing is known.
bool unpacksTo(std::uint32_t compression, std::span<const std::uint8_t> data, std::uint64_t least, std::uint64_t most);

}  // namespace matte
