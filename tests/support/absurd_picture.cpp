// SPDX-License-Identifier: Apache-2.0
#include "tests/support/absurd_picture.h"

namespace matte::test {
namespace {

FileBytes tiffField(std::uint32_t tag, std::uint32_t value) {
    return joined({littleEndian(tag, 2), littleEndian(4, 2), littleEndian(1, 4), littleEndian(value, 4)});
}

}  // namespace

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
