// SPDX-License-Identifier: Apache-2.0
// Small files that claim to be pictures of any size, and hold little or nothing of them. Any thread.
#pragma once

#include <cstdint>

#include "tests/support/files/picture_file.h"

namespace matte::test {

/// Whole and with right checksums, but for its pixels.
FileBytes pngClaiming(std::uint32_t width, std::uint32_t height);
/// The header alone, as a decoder that trusts it would meet it.
FileBytes jpegClaiming(std::uint32_t width, std::uint32_t height);
/// With these scans, whatever they hold: of one component, all of whose details one scan or several may bring; of
/// several components.
FileBytes progressiveJpeg(Size size, const std::vector<FileBytes>& scans);
FileBytes baselineJpeg(Size size, int components, const std::vector<FileBytes>& scans);
/// A scan of one component, the coefficients from `first` to `last`: eight bits of data, enough for one block of zeros.
FileBytes emptyScan(std::uint8_t component, std::uint8_t first, std::uint8_t last);
/// 24 bits a pixel and four bytes of them.
FileBytes bmpClaiming(std::uint32_t width, std::uint32_t height);
/// Grey, uncompressed, four bytes of pixels.
FileBytes tiffClaiming(std::uint32_t width, std::uint32_t height);
/// The extended header alone.
FileBytes webpClaiming(std::uint32_t width, std::uint32_t height);

}  // namespace matte::test
