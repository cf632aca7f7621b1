// SPDX-License-Identifier: Apache-2.0
#include "tests/support/files/absurd_picture.h"

namespace matte::test {
namespace {

FileBytes tiffField(std::uint32_t tag, std::uint32_t value) {
    return joined({littleEndian(tag, 2), littleEndian(4, 2), littleEndian(1, 4), littleEndian(value, 4)});
}

/// `kind` is the frame's marker. Both codes of a single bit stand for 0.
FileBytes jpegOf(std::uint8_t kind, Size size, int components, const std::vector<FileBytes>& scans) {
    FileBytes frame = joined({{0xFF, kind, 0, std::uint8_t(8 + 3 * components), 8},
                              bigEndian(std::uint32_t(size.height), 2),
                              bigEndian(std::uint32_t(size.width), 2),
                              {std::uint8_t(components)}});
    for (int i = 1; i <= components; ++i) frame = joined({frame, {std::uint8_t(i), 0x11, 0}});
    FileBytes file = joined({{0xFF, 0xD8, 0xFF, 0xDB, 0, 67, 0}, FileBytes(64, 1), frame});
    for (const bool details : {false, true}) {
        const std::uint8_t table = details ? 0x10 : 0;
        file = joined({file, {0xFF, 0xC4, 0, 20, table, 1}, FileBytes(15), {0}});
    }
    for (const auto& scan : scans) file = joined({file, scan});
    return joined({file, {0xFF, 0xD9}});
}

}  // namespace

FileBytes progressiveJpeg(Size size, const std::vector<FileBytes>& scans) {
    return jpegOf(0xC2, size, 1, scans);
}

FileBytes baselineJpeg(Size size, int components, const std::vector<FileBytes>& scans) {
    return jpegOf(0xC0, size, components, scans);
}

FileBytes emptyScan(std::uint8_t component, std::uint8_t first, std::uint8_t last) {
    return {0xFF, 0xDA, 0, 8, 1, component, 0, first, last, 0, 0x3F};
}

FileBytes pngClaiming(std::uint32_t width, std::uint32_t height) {
    return joined({bytesOf("\x89PNG\r\n\x1A\n"),
                   pngChunk("IHDR", joined({bigEndian(width, 4), bigEndian(height, 4), {8, 2, 0, 0, 0}})),
                   pngChunk("IDAT", {0x78, 0x01}), pngChunk("IEND", {})});
}

FileBytes jpegClaiming(std::uint32_t width, std::uint32_t height) {
    return joined({{0xFF, 0xD8, 0xFF, 0xC0, 0, 17, 8},
                   bigEndian(height, 2),
                   bigEndian(width, 2),
                   {3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0, 0xFF, 0xDA, 0, 12, 3, 1, 0, 2, 0, 3, 0, 0, 63, 0}});
}

FileBytes bmpClaiming(std::uint32_t width, std::uint32_t height) {
    return joined({bytesOf("BM"), littleEndian(58, 4), littleEndian(0, 4), littleEndian(54, 4), littleEndian(40, 4),
                   littleEndian(width, 4), littleEndian(height, 4), littleEndian(1, 2), littleEndian(24, 2),
                   FileBytes(24), FileBytes(4)});
}

FileBytes tiffClaiming(std::uint32_t width, std::uint32_t height) {
    return joined({bytesOf(std::string_view("II\x2a\0", 4)), littleEndian(8, 4), littleEndian(6, 2),
                   tiffField(256, width), tiffField(257, height), tiffField(258, 8), tiffField(262, 1),
                   tiffField(273, 8), tiffField(279, 4), littleEndian(0, 4)});
}

FileBytes webpClaiming(std::uint32_t width, std::uint32_t height) {
    return joined({bytesOf("RIFF"), littleEndian(22, 4), bytesOf("WEBPVP8X"), littleEndian(10, 4), FileBytes(4),
                   littleEndian(width - 1, 3), littleEndian(height - 1, 3)});
}

}  // namespace matte::test
