// SPDX-License-Identifier: Apache-2.0
// Encoded pictures for tests: every format, depth and number of channels, EXIF orientations, and PNG files of any kind
// written byte by byte. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "inference/core/image.h"

namespace matte::test {

using FileBytes = std::vector<std::uint8_t>;

/// Samples of 8 or 16 bits, rows packed, channels grey | R, G, B | R, G, B, A.
struct Samples {
    Size size;
    int channels = 3;
    int bits = 8;
    std::vector<std::uint16_t> values;
    [[nodiscard]] std::uint16_t at(int x, int y, int c) const {
        return values[(std::size_t(y) * std::size_t(size.width) + std::size_t(x)) * std::size_t(channels) +
                      std::size_t(c)];
    }
};

/// Every value that the depth has turns up, in an order without symmetry.
Samples testCard(Size size, int channels, int bits);
/// Six plain areas, 3 across and 2 down, of different colours: survives JPEG, and no two orientations look alike.
Samples sixAreas(Size size);

/// `extension` names the format: ".png", ".tif" (LZW), ".bmp", ".webp" (lossless) or ".jpg" (quality 100).
FileBytes encode(const Samples& samples, const std::string& extension);
/// A TIFF with this number of TIFF's compression, and strips of so many rows.
FileBytes encodeTiff(const Samples& samples, int compression, int rowsPerStrip);

/// The file with an EXIF orientation, as cameras and editors store it: APP1, eXIf, an EXIF chunk, or TIFF's tag 274.
FileBytes withOrientation(const FileBytes& file, int orientation);

/// The file with an ICC profile: APP2 segments of at most `partBytes`, the last one first; iCCP, an ICCP chunk, or
/// TIFF's tag 34675.
FileBytes withColorProfile(const FileBytes& file, const FileBytes& profile, std::size_t partBytes = 65000);

/// As a print shop's program writes it: four inks, complemented, with Adobe's marker. 8x8 pixels of one colour, of
/// which 25, 150, 250 and 204 of 255 are left free by cyan, magenta, yellow and black.
FileBytes cmykJpeg();

/// A TIFF with one more field, or another value for it: one 16-bit number.
FileBytes withTiffField(const FileBytes& file, int tag, int value);

/// A PNG chunk with its length and checksum.
FileBytes pngChunk(std::string_view type, const FileBytes& data);
/// A PNG with this header and these rows (each with its leading filter byte), uncompressed, and `extra` chunks before
/// the pixels.
FileBytes rawPng(Size size, int bitDepth, int colorType, const FileBytes& rows, const FileBytes& extra = {});

FileBytes joined(std::initializer_list<FileBytes> parts);
FileBytes bytesOf(std::string_view text);
/// `value` in `count` bytes, the most significant first.
FileBytes bigEndian(std::uint32_t value, int count);
FileBytes littleEndian(std::uint32_t value, int count);

}  // namespace matte::test
