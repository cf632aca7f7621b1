// SPDX-License-Identifier: Apache-2.0
// BMP: rows in both orders, and which bytes of a pixel are its colours.
#include <gtest/gtest.h>

#include "inference/core/error.h"
#include "inference/media/image/image_file.h"
#include "tests/support/files/picture_file.h"

namespace matte {
namespace {

using test::FileBytes;
using test::littleEndian;

using Masks = std::vector<std::uint32_t>;  // of red, green, blue and perhaps alpha

/// A BMP of one column, its pixels in the file's order. With masks, the header says BI_BITFIELDS; they lie in it when
/// it has more than 40 bytes, and behind it otherwise.
struct Bmp {
    int bits = 32;
    std::uint32_t headerBytes = 40;
    std::int32_t height = 1;  ///< negative: rows go from top to bottom
    Masks masks;

    [[nodiscard]] FileBytes file(const std::vector<FileBytes>& pixels) const {
        FileBytes rest;
        for (const std::uint32_t mask : masks) rest = test::joined({rest, littleEndian(mask, 4)});
        if (headerBytes > 40) rest.resize(headerBytes - 40);
        FileBytes rows;
        for (const auto& pixel : pixels) {
            rows.insert(rows.end(), pixel.begin(), pixel.end());
            rows.resize((rows.size() + 3) / 4 * 4);
        }
        const auto offset = std::uint32_t(54 + rest.size()), size = offset + std::uint32_t(rows.size());
        return test::joined({test::bytesOf("BM"), littleEndian(size, 4), littleEndian(0, 4), littleEndian(offset, 4),
                             littleEndian(headerBytes, 4), littleEndian(1, 4), littleEndian(std::uint32_t(height), 4),
                             littleEndian(1, 2), littleEndian(std::uint32_t(bits), 2),
                             littleEndian(masks.empty() ? 0 : 3, 4), FileBytes(20), rest, rows});
    }
};

/// R, G, B, A of the column, from top to bottom.
std::vector<int> column(const FileBytes& file) {
    const auto image = decodeImage(file, "picture");
    std::vector<int> values;
    for (int y = 0; y < image->size().height; ++y) values.insert(values.end(), image->row(y), image->row(y) + 4);
    return values;
}

std::string refusal(const FileBytes& file) {
    try {
        decodeImage(file, "picture");
    } catch (const Error& error) {
        EXPECT_EQ(error.category, ErrorCategory::input);
        return error.what();
    }
    return "";
}

const Masks kBgr{0x00FF0000, 0x0000FF00, 0x000000FF};
using Values = std::vector<int>;

// The fourth channel of a plain 32-bit BMP is padding, and most programs leave it zero.
TEST(DecodeBmp, TakesPaddingForNoAlpha) {
    EXPECT_EQ(column(Bmp().file({{30, 20, 10, 0}})), (Values{10, 20, 30, 255}));
}

// Rows usually go from bottom to top. Screen grabbers write them from top to bottom, and say so by a negative height.
TEST(DecodeBmp, ReadsRowsInEitherOrder) {
    const Values redOverBlue{200, 0, 0, 255, 0, 0, 100, 255};
    const FileBytes red{0, 0, 200}, blue{100, 0, 0};
    EXPECT_EQ(column(Bmp{24, 40, 2, {}}.file({blue, red})), redOverBlue);
    EXPECT_EQ(column(Bmp{24, 40, -2, {}}.file({red, blue})), redOverBlue);
    const FileBytes red32{0, 0, 200, 0}, blue32{100, 0, 0, 0};
    for (const Masks& masks : {Masks{}, kBgr}) {
        EXPECT_EQ(column(Bmp{32, 40, 2, masks}.file({blue32, red32})), redOverBlue);
        EXPECT_EQ(column(Bmp{32, 40, -2, masks}.file({red32, blue32})), redOverBlue);
    }
}

// No positive number of 32 bits is the opposite of this one.
TEST(DecodeBmp, RefusesTheLowestHeight) {
    EXPECT_EQ(refusal(Bmp{24, 40, INT32_MIN, {}}.file({{0, 0, 0}})),
              "picture claims to be 1x2147483648 pixels, which is too large: scale it to at most 200 megapixels.");
}

// A header below 56 bytes has no mask for an alpha, and so no alpha. A reader that takes the padding for one shows
// nothing at all where it is zero.
TEST(DecodeBmp, HasAnAlphaOnlyWithAMaskForIt) {
    Masks fourth = kBgr;
    fourth.push_back(0xFF000000);
    for (const int padding : {0, 77, 255}) {
        const std::vector<FileBytes> pixel{{30, 20, 10, std::uint8_t(padding)}};
        for (const std::uint32_t headerBytes : {40U, 52U, 56U, 108U, 124U}) {
            EXPECT_EQ(column(Bmp{32, headerBytes, 1, kBgr}.file(pixel)), (Values{10, 20, 30, 255})) << headerBytes;
        }
        for (const std::uint32_t headerBytes : {56U, 108U, 124U}) {
            EXPECT_EQ(column(Bmp{32, headerBytes, 1, fourth}.file(pixel)), (Values{10, 20, 30, padding}));
        }
    }
}

TEST(DecodeBmp, FindsTheColorsWhereTheMasksSay) {
    for (const std::uint32_t headerBytes : {40U, 52U, 56U, 108U}) {
        const auto shown = [&](const Masks& masks, const FileBytes& pixel) {
            return column(Bmp{32, headerBytes, 1, masks}.file({pixel}));
        };
        EXPECT_EQ(shown({0xFF, 0xFF00, 0xFF0000}, {10, 20, 30, 0}), (Values{10, 20, 30, 255})) << headerBytes;
        EXPECT_EQ(shown({0xFF000000, 0xFF0000, 0xFF00}, {0, 30, 20, 10}), (Values{10, 20, 30, 255})) << headerBytes;
    }
}

TEST(DecodeBmp, WidensColorsThatAreNoBytes) {
    const Masks tenBits{0x3FF00000, 0xFFC00, 0x3FF};
    for (const std::uint32_t headerBytes : {40U, 108U}) {
        // The number 0x04030201: 64, 192 and 513 of 1023.
        EXPECT_EQ(column(Bmp{32, headerBytes, 1, tenBits}.file({{1, 2, 3, 4}})), (Values{16, 48, 128, 255}));
    }
}

// The largest of each channel is 255.
TEST(DecodeBmp, Widens16Bits) {
    for (const std::uint32_t headerBytes : {40U, 108U}) {
        const Masks sixOfGreen{0xF800, 0x7E0, 0x1F}, five{0x7C00, 0x3E0, 0x1F};
        EXPECT_EQ(column(Bmp{16, headerBytes, 1, sixOfGreen}.file({{0x00, 0xF8}})), (Values{255, 0, 0, 255}));
        EXPECT_EQ(column(Bmp{16, headerBytes, 1, sixOfGreen}.file({{0xFF, 0xFF}})), (Values{255, 255, 255, 255}));
        EXPECT_EQ(column(Bmp{16, headerBytes, 1, five}.file({{0x00, 0x7C}})), (Values{255, 0, 0, 255}));
    }
    EXPECT_EQ(column(Bmp{16, 40, 1, {}}.file({{0x1F, 0x00}})), (Values{0, 0, 255, 255}));
    EXPECT_EQ(column(Bmp{16, 40, 1, {}}.file({{0x10, 0x00}})), (Values{0, 0, 132, 255}));
}

/// As OS/2 writes it: a header of `headerBytes`, three or four bytes a color of the palette, indices of `bits`.
FileBytes os2(std::uint32_t headerBytes, std::uint32_t bits, const FileBytes& palette, const FileBytes& row) {
    const int side = headerBytes == 12 ? 2 : 4;
    const auto offset = std::uint32_t(14 + headerBytes + palette.size());
    return test::joined({test::bytesOf("BM"), littleEndian(0, 4), littleEndian(0, 4), littleEndian(offset, 4),
                         littleEndian(headerBytes, 4), littleEndian(1, side), littleEndian(1, side), littleEndian(1, 2),
                         littleEndian(bits, 2), palette, row});
}

TEST(DecodeBmp, ReadsPalettesOfEitherWidth) {
    for (const std::uint32_t bits : {1U, 4U, 8U}) {
        const FileBytes second{std::uint8_t(1U << (8 - bits)), 0, 0, 0};
        EXPECT_EQ(column(os2(12, bits, {1, 2, 3, 30, 20, 10}, second)), (Values{10, 20, 30, 255})) << bits;
        EXPECT_EQ(column(os2(16, bits, {1, 2, 3, 0, 30, 20, 10, 0}, second)), (Values{10, 20, 30, 255})) << bits;
    }
}

}  // namespace
}  // namespace matte
