// SPDX-License-Identifier: Apache-2.0
// Photos become rgba8 from each format, depth and number of channels.
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>
#include <unistd.h>

#include "inference/core/error.h"
#include "inference/media/image/image_file.h"
#include "tests/support/files/model_file.h"
#include "tests/support/files/picture_file.h"
#include "tests/support/files/scratch_folder.h"

namespace matte {
namespace {

namespace fs = std::filesystem;
using test::FileBytes;
using test::Samples;
using test::ScratchFolder;

/// The sentence of the Error that `action` throws, after checking its category; empty when it throws none.
template <typename Action>
std::string refusal(ErrorCategory category, Action action) {
    try {
        action();
    } catch (const Error& error) {
        EXPECT_EQ(error.category, category) << error.what();
        return error.what();
    }
    return "";
}

int expected(const Samples& samples, int x, int y, int channel) {
    if (channel == 3 && samples.channels != 4) return 255;
    const int value = samples.at(x, y, samples.channels == 1 ? 0 : channel);
    return samples.bits == 16 ? int(std::lround(value * 255.0 / 65535.0)) : value;
}

void expectPixels(const Image& image, const Samples& samples, int tolerance) {
    ASSERT_EQ(image.size(), samples.size);
    ASSERT_EQ(image.format(), PixelFormat::rgba8);
    for (int y = 0; y < samples.size.height; ++y) {
        for (int x = 0; x < samples.size.width; ++x) {
            for (int c = 0; c < 4; ++c) {
                ASSERT_NEAR(image.row(y)[x * 4 + c], expected(samples, x, y, c), tolerance)
                    << "(" << x << ", " << y << ") channel " << c;
            }
        }
    }
}

struct Kind {
    const char* extension;
    int channels, bits;
};

class Decode : public testing::TestWithParam<Kind> {};

TEST_P(Decode, GivesTheStoredPixelsAtAnySize) {
    const Kind kind = GetParam();
    for (const Size size : {Size{1, 1}, {1, 7}, {7, 1}, {2, 2}, {61, 83}, {130, 67}}) {
        const Samples card = test::testCard(size, kind.channels, kind.bits);
        expectPixels(*decodeImage(test::encode(card, kind.extension), "card"), card, 0);
    }
}

INSTANTIATE_TEST_SUITE_P(Lossless,
                         Decode,
                         testing::Values(Kind{".png", 1, 8},
                                         Kind{".png", 3, 8},
                                         Kind{".png", 4, 8},
                                         Kind{".png", 1, 16},
                                         Kind{".png", 3, 16},
                                         Kind{".png", 4, 16},
                                         Kind{".tif", 1, 8},
                                         Kind{".tif", 3, 8},
                                         Kind{".tif", 4, 8},
                                         Kind{".tif", 1, 16},
                                         Kind{".tif", 3, 16},
                                         Kind{".tif", 4, 16},
                                         Kind{".bmp", 1, 8},
                                         Kind{".bmp", 3, 8},
                                         Kind{".webp", 3, 8}),
                         [](const auto& instance) {
                             return std::string(instance.param.extension + 1) +
                                    std::to_string(instance.param.channels) + "x" + std::to_string(instance.param.bits);
                         });

TEST(DecodeJpeg, IsCloseToThePicture) {
    for (const Size size : {Size{1, 1}, {17, 9}, {64, 48}}) {
        Samples plain{size, 3, 8, {}};
        for (std::size_t i = 0; i < size.pixels(); ++i) plain.values.insert(plain.values.end(), {200, 120, 40});
        expectPixels(*decodeImage(test::encode(plain, ".jpg"), "plain"), plain, 2);
    }
    Samples grey{{16, 16}, 1, 8, std::vector<std::uint16_t>(256, 77)};
    expectPixels(*decodeImage(test::encode(grey, ".jpg"), "grey"), grey, 1);
}

// Bytes after the end of a JPEG are common: phones append a film or a depth map.
TEST(DecodeJpeg, IgnoresWhatFollowsThePicture) {
    const Samples grey{{16, 16}, 1, 8, std::vector<std::uint16_t>(256, 77)};
    const auto file = test::joined({test::encode(grey, ".jpg"), test::bytesOf("and then a film")});
    expectPixels(*decodeImage(file, "motion photo"), grey, 1);
}

TEST(DecodeJpeg, ConvertsCmyk) {
    const auto picture = decodeImage(test::cmykJpeg(), "cmyk");
    ASSERT_EQ(picture->size(), (Size{8, 8}));
    const int wanted[4] = {20, 120, 200, 255};
    for (int c = 0; c < 4; ++c) EXPECT_NEAR(picture->row(4)[4 * 4 + c], wanted[c], 3);
}

TEST(DecodePng, ExpandsEveryColorType) {
    // Each row begins with its filter, 0.
    const auto pixelOf = [](const FileBytes& file) {
        const auto image = decodeImage(file, "small");
        return std::vector<int>(image->row(0), image->row(0) + 4);
    };
    using Pixel = std::vector<int>;
    EXPECT_EQ(pixelOf(test::rawPng({1, 1}, 1, 0, {0, 0x80})), (Pixel{255, 255, 255, 255}));
    EXPECT_EQ(pixelOf(test::rawPng({1, 1}, 2, 0, {0, 0x40})), (Pixel{85, 85, 85, 255}));
    EXPECT_EQ(pixelOf(test::rawPng({1, 1}, 4, 0, {0, 0x30})), (Pixel{51, 51, 51, 255}));
    EXPECT_EQ(pixelOf(test::rawPng({1, 1}, 8, 4, {0, 90, 33})), (Pixel{90, 90, 90, 33}));
    EXPECT_EQ(pixelOf(test::rawPng({1, 1}, 16, 4, {0, 128, 128, 64, 64})), (Pixel{128, 128, 128, 64}));
    const auto palette = test::pngChunk("PLTE", {1, 2, 3, 40, 50, 60});
    EXPECT_EQ(pixelOf(test::rawPng({1, 1}, 8, 3, {0, 1}, palette)), (Pixel{40, 50, 60, 255}));
    const auto clearPalette = test::joined({palette, test::pngChunk("tRNS", {255, 70})});
    EXPECT_EQ(pixelOf(test::rawPng({1, 1}, 8, 3, {0, 1}, clearPalette)), (Pixel{40, 50, 60, 70}));
    const auto clearColor = test::pngChunk("tRNS", {0, 7, 0, 8, 0, 9});
    EXPECT_EQ(pixelOf(test::rawPng({1, 1}, 8, 2, {0, 7, 8, 9}, clearColor)), (Pixel{7, 8, 9, 0}));
}

// libpng would warn about this profile on stderr, as it does about those that common programs write.
TEST(DecodePng, IsSilentAboutOddities) {
    const auto profile = test::pngChunk("iCCP", test::bytesOf(std::string("name\0\0broken", 12)));
    testing::internal::CaptureStderr();
    decodeImage(test::rawPng({1, 1}, 8, 0, {0, 9}, profile), "odd");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

// The field ExtraSamples says what the alpha is: 1 = the colours are multiplied by it, 2 = they are not.
TEST(DecodeTiff, GivesStraightAlpha) {
    const auto pixelOf = [](int extraSamples) {
        const auto file = test::encode({{1, 1}, 4, 8, {50, 25, 100, 100}}, ".tif");
        const auto image = decodeImage(test::withTiffField(file, 338, extraSamples), "layer");
        return std::vector<int>(image->row(0), image->row(0) + 4);
    };
    const auto divided = pixelOf(1), wanted = std::vector<int>{128, 64, 255, 100};
    for (std::size_t c = 0; c < 4; ++c) EXPECT_NEAR(divided[c], wanted[c], 1) << c;
    EXPECT_EQ(pixelOf(2), (std::vector<int>{50, 25, 100, 100}));
}

TEST(DecodeTiff, RefusesSamplesThatItCannotShow) {
    const auto tell = [](int bits, int sampleFormat) {
        const auto file = test::encode(test::testCard({4, 4}, 1, bits), ".tif");
        return refusal(ErrorCategory::input, [&] { decodeImage(test::withTiffField(file, 339, sampleFormat), "odd"); });
    };
    const std::string refused =
        "odd holds signed, 32-bit or floating-point samples, which are not supported: save it with 8 or 16 bits a "
        "channel.";
    EXPECT_EQ(tell(8, 2), refused);
    EXPECT_EQ(tell(16, 2), refused);
    EXPECT_TRUE(tell(16, 3).starts_with("odd can't be decoded (")) << "floats of 16 bits: " << tell(16, 3);
}

// In PhotometricInterpretation (262), 0 says that white is stored as 0.
TEST(DecodeTiff, ShowsGreyThatCountsFromWhiteTheRightWayRound) {
    for (const int bits : {8, 16}) {
        Samples card = test::testCard({19, 7}, 1, bits);
        const auto file = test::withTiffField(test::encode(card, ".tif"), 262, 0);
        for (auto& value : card.values) value = std::uint16_t((1 << bits) - 1 - value);
        expectPixels(*decodeImage(file, "negative"), card, 0);
    }
}

FileBytes tiffField(std::uint32_t tag, std::uint32_t count, std::uint32_t value) {
    return test::joined({test::littleEndian(tag, 2), test::littleEndian(4, 2), test::littleEndian(count, 4),
                         test::littleEndian(value, 4)});
}

/// One pixel, its samples of `bits` side by side; PhotometricInterpretation (262) is 2 for red, green and blue, and 5
/// for inks.
FileBytes pixelTiff(std::uint32_t bits, std::uint32_t photometric, std::initializer_list<std::uint8_t> samples) {
    const std::uint32_t bytes = bits / 8 * std::uint32_t(samples.size());
    FileBytes pixel;
    for (const std::uint8_t sample : samples) pixel.insert(pixel.end(), bits / 8, sample);
    pixel.resize(16);
    return test::joined({test::bytesOf(std::string_view("II\x2a\0", 4)), test::littleEndian(24, 4), pixel,
                         test::littleEndian(8, 2), tiffField(256, 1, 1), tiffField(257, 1, 1), tiffField(258, 1, bits),
                         tiffField(262, 1, photometric), tiffField(273, 1, 8),
                         tiffField(277, 1, std::uint32_t(samples.size())), tiffField(278, 1, 1),
                         tiffField(279, 1, bytes), test::littleEndian(0, 4)});
}

TEST(DecodeTiff, SaysWhichColoursItCannotShow) {
    const auto tell = [](const FileBytes& file) {
        return refusal(ErrorCategory::input, [&] { decodeImage(file, "print"); });
    };
    for (const std::uint32_t bits : {8U, 16U}) {
        const auto inks = decodeImage(pixelTiff(bits, 5, {0, 255, 255, 0}), "print");
        EXPECT_GT(inks->row(0)[0], inks->row(0)[1] + 100) << "four inks of " << bits << " bits are shown";
        const std::string tooMany =
            "print holds 5 channels a pixel, which is not supported: save it as RGB or as RGB with alpha.";
        EXPECT_EQ(tell(pixelTiff(bits, 2, {0, 255, 255, 0, 255})), tooMany);
    }
}

/// One pixel, its samples of `bits` in a plane each: PlanarConfiguration (284) is 2. TIFF 6.0, section 8.
FileBytes planarTiff(std::uint32_t bits, std::initializer_list<std::uint8_t> samples) {
    const std::uint32_t bytes = bits / 8, channels = std::uint32_t(samples.size());
    FileBytes planes, offsets, counts;
    for (const std::uint8_t sample : samples) {
        offsets = test::joined({offsets, test::littleEndian(8 + std::uint32_t(planes.size()), 4)});
        counts = test::joined({counts, test::littleEndian(bytes, 4)});
        planes.insert(planes.end(), bytes, sample);
    }
    planes.resize(8);
    const std::uint32_t lists = 16, directory = lists + 8 * channels;
    return test::joined({test::bytesOf(std::string_view("II\x2a\0", 4)), test::littleEndian(directory, 4), planes,
                         offsets, counts, test::littleEndian(9, 2), tiffField(256, 1, 1), tiffField(257, 1, 1),
                         tiffField(258, 1, bits), tiffField(262, 1, channels == 1 ? 1 : 2),
                         tiffField(273, channels, channels == 1 ? 8 : lists), tiffField(277, 1, channels),
                         tiffField(278, 1, 1), tiffField(279, channels, channels == 1 ? bytes : lists + 4 * channels),
                         tiffField(284, 1, 2), test::littleEndian(0, 4)});
}

// A reader that takes planes of 16 bits for interleaved channels shows scrambled colours and memory that nobody wrote.
TEST(DecodeTiff, JoinsSeparatePlanes) {
    const auto pixelOf = [](const FileBytes& file) {
        const auto image = decodeImage(file, "planes");
        return std::vector<int>(image->row(0), image->row(0) + 4);
    };
    EXPECT_EQ(pixelOf(planarTiff(8, {10, 20, 30})), (std::vector<int>{10, 20, 30, 255}));
    EXPECT_EQ(pixelOf(planarTiff(16, {40})), (std::vector<int>{40, 40, 40, 255}));
    auto deep = planarTiff(16, {10, 20, 30});
    EXPECT_EQ(pixelOf(deep), (std::vector<int>{10, 20, 30, 255}));

    // The last field says that there are planes; a signed number (type 9) says it, too.
    deep.at(deep.size() - 4 - 12 + 2) = 9;
    EXPECT_EQ(pixelOf(deep), (std::vector<int>{10, 20, 30, 255}));
}

/// Grey, uncompressed: pages of so many pixels in a row, each of its number.
FileBytes pagesTiff(const std::vector<std::uint32_t>& widths) {
    FileBytes file = test::joined({test::bytesOf(std::string_view("II\x2a\0", 4)), test::littleEndian(0, 4)});
    std::size_t link = 4;  // where the next directory's place is noted
    for (std::uint32_t page = 0; page < widths.size(); ++page) {
        const auto pixels = std::uint32_t(file.size());
        file.insert(file.end(), (widths[page] + 1) / 2 * 2, std::uint8_t(page));
        const FileBytes place = test::littleEndian(std::uint32_t(file.size()), 4);
        std::copy(place.begin(), place.end(), file.begin() + std::ptrdiff_t(link));
        file = test::joined({file, test::littleEndian(8, 2), tiffField(256, 1, widths[page]), tiffField(257, 1, 1),
                             tiffField(258, 1, 8), tiffField(262, 1, 1), tiffField(273, 1, pixels),
                             tiffField(277, 1, 1), tiffField(278, 1, 1), tiffField(279, 1, widths[page])});
        link = file.size();
        file.insert(file.end(), 4, 0);
    }
    return file;
}

// Cameras and scanners put a preview first.
TEST(DecodeTiff, ShowsTheLargestPage) {
    const auto preview = decodeImage(pagesTiff({3, 9, 5}), "scan");
    EXPECT_EQ(preview->size(), (Size{9, 1}));
    EXPECT_EQ(preview->row(0)[0], 1);
    EXPECT_EQ(decodeImage(pagesTiff({7, 7}), "document")->row(0)[0], 0) << "the first of equals";
}

TEST(DecodeTiff, KeepsTheAlphaOfGrey) {
    auto file = pixelTiff(8, 1, {90, 33});
    const auto image = decodeImage(file, "grey");
    EXPECT_EQ(std::vector<int>(image->row(0), image->row(0) + 4), (std::vector<int>{90, 90, 90, 33}));
}

// A picture of one pixel, and then one of another colour.
TEST(DecodeGif, ShowsTheFirstPicture) {
    const FileBytes frame{0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0},
        second{0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x4C, 1, 0};
    const auto gif = test::joined(
        {test::bytesOf("GIF89a"), {1, 0, 1, 0, 0x80, 0, 0}, {200, 100, 50, 1, 2, 3}, frame, second, {0x3B}});
    const auto image = decodeImage(gif, "film");
    ASSERT_EQ(image->size(), (Size{1, 1}));
    EXPECT_EQ(std::vector<int>(image->row(0), image->row(0) + 4), (std::vector<int>{200, 100, 50, 255}));
    EXPECT_FALSE(beginsAsPicture(gif)) << "as a background it moves";
    EXPECT_TRUE(beginsAsPicture(test::encode(test::testCard({4, 4}, 3, 8), ".webp")));
    EXPECT_TRUE(
        beginsAsPicture(test::bytesOf(std::string_view("\0\0\0\x1c"
                                                       "ftypheic",
                                                       12))));
    EXPECT_FALSE(
        beginsAsPicture(test::bytesOf(std::string_view("\0\0\0\x1c"
                                                       "ftypisom",
                                                       12))));
}

TEST(ReadImage, SaysWhatIsWrongWithTheFile) {
    const ScratchFolder folder;
    const auto tell = [](const fs::path& path) { return refusal(ErrorCategory::input, [&] { readImage(path); }); };
    EXPECT_EQ(tell(folder / "none.png"), (folder / "none.png").string() + " doesn't exist: check the name.");
    EXPECT_EQ(tell(folder.path()), folder.path().string() + " is a folder: name a picture in it.");
    EXPECT_NE(tell("/dev/null").find("is not a regular file"), std::string::npos);
    test::writeBytes(folder / "empty.jpg", {});
    EXPECT_NE(tell(folder / "empty.jpg").find("is empty"), std::string::npos);
    test::writeBytes(folder / "text.jpg", test::bytesOf("this is text"));
    EXPECT_NE(tell(folder / "text.jpg").find("is not a JPEG, PNG, WebP, TIFF, HEIF, AVIF, GIF or BMP"),
              std::string::npos);
}

TEST(ReadImage, SaysThatItMayNotRead) {
    if (::geteuid() == 0) GTEST_SKIP() << "runs as root, who may read everything";
    const ScratchFolder folder;
    test::writeBytes(folder / "secret.png", test::encode(test::testCard({4, 4}, 3, 8), ".png"));
    fs::permissions(folder / "secret.png", fs::perms::none);
    const auto said = refusal(ErrorCategory::input, [&] { readImage(folder / "secret.png"); });
    EXPECT_NE(said.find("can't be opened (Permission denied)"), std::string::npos) << said;
}

TEST(ImageExtension, IsToldInAnyCase) {
    for (const char* name : {"a.jpg", "a.JPEG", "b/c.Png", "a.b.webp", "a.tif", "a.tiff", "a.bmp"}) {
        EXPECT_TRUE(hasImageExtension(name)) << name;
    }
    for (const char* name : {"a.gif", "jpg", "a.", "", "a.jpg.txt", "a.safetensors"}) {
        EXPECT_FALSE(hasImageExtension(name)) << name;
    }
}

}  // namespace
}  // namespace matte
