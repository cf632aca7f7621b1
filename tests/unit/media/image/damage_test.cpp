// SPDX-License-Identifier: Apache-2.0
// Bytes that are damaged, cut off or absurd, in every place: decoding gives a picture or one clear sentence, and never
// a crash or pixels of another picture.
#include <algorithm>

#include <gtest/gtest.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "inference/core/error.h"
#include "inference/media/image/image_file.h"
#include "inference/model/unet.h"
#include "tests/support/files/absurd_picture.h"
#include "tests/support/files/model_file.h"
#include "tests/support/files/picture_file.h"
#include "tests/support/files/tiff_directory.h"

namespace matte {
namespace {

using test::FileBytes;
using test::joined;

const char* const kExtensions[] = {".jpg", ".png", ".webp", ".tif", ".bmp"};

bool isOneSentence(const std::string& text) {
    return !text.empty() && text.back() == '.' && text.find('\n') == std::string::npos;
}

/// Decodes, or returns nothing after checking the sentence.
std::shared_ptr<const Image> decodeOrRefuse(std::span<const std::uint8_t> bytes) {
    try {
        return decodeImage(bytes, "photo.xyz");
    } catch (const Error& error) {
        EXPECT_EQ(error.category, ErrorCategory::input);
        EXPECT_TRUE(isOneSentence(error.what())) << error.what();
        EXPECT_EQ(std::string(error.what()).rfind("photo.xyz ", 0), 0U) << error.what();
        return nullptr;
    }
}

FileBytes photo(const std::string& extension) {
    return test::encode(test::testCard({61, 43}, 3, 8), extension);
}

/// A damaged file is refused, or shown as the whole one where what it lacks is not the picture's.
void expectWholeOrRefused(std::span<const std::uint8_t> damaged, const Image& whole, const std::string& what) {
    const auto image = decodeOrRefuse(damaged);
    if (!image) return;
    ASSERT_EQ(image->size(), whole.size()) << what;
    EXPECT_TRUE(std::equal(whole.row(0), whole.row(0) + whole.bytes(), image->row(0))) << what;
}

// Every length within the headers, then at regular steps.
TEST(CutOffPicture, IsRefusedAtEveryLength) {
    for (const char* extension : kExtensions) {
        const FileBytes file = photo(extension);
        const std::size_t step = std::max<std::size_t>(1, file.size() / 400);
        // PNG ends with an empty chunk, which says no more than that it ends.
        const std::size_t picture = file.size() - (std::string(extension) == ".png" ? 12 : 0);
        for (std::size_t size = 0; size < picture; size += size < 64 ? 1 : step) {
            EXPECT_FALSE(decodeOrRefuse(std::span(file).first(size))) << extension << " of " << size << " bytes";
        }
        EXPECT_FALSE(decodeOrRefuse(std::span(file).first(picture - 5))) << extension << " without its last bytes";
        const auto whole = decodeOrRefuse(file);
        ASSERT_TRUE(whole) << extension << " as it was";
        for (std::size_t size = picture - 4; size < file.size(); ++size) {
            expectWholeOrRefused(std::span(file).first(size), *whole, extension + std::to_string(size));
        }
    }
}

TEST(CutOffPicture, SaysSo) {
    for (const char* extension : kExtensions) {
        const FileBytes file = photo(extension);
        try {
            decodeImage(std::span(file).first(file.size() * 2 / 3), "half");
            ADD_FAILURE() << extension;
        } catch (const Error& error) {
            const std::string said = error.what();
            EXPECT_TRUE(said.starts_with("half can't be decoded (") || said.starts_with("half ends before its picture"))
                << said;
            EXPECT_NE(said.find(": copy or download it again"), std::string::npos) << said;
            EXPECT_EQ(said.find("()"), std::string::npos) << said;
        }
    }
}

// PNG has checksums: a flipped bit of the picture is found. The others may decode to another picture.
TEST(FlippedBits, NeverCrashAndAreFoundInPng) {
    for (const char* extension : kExtensions) {
        const FileBytes file = photo(extension);
        const auto whole = decodeOrRefuse(file);
        const std::size_t step = std::max<std::size_t>(1, file.size() / 300);
        for (std::size_t at = 0; at < file.size(); at += at < 128 ? 1 : step) {
            FileBytes flipped = file;
            flipped[at] ^= std::uint8_t(1U << (at % 8));
            const std::string what = "bit " + std::to_string(at % 8) + " of byte " + std::to_string(at);
            if (std::string(extension) == ".png") {
                expectWholeOrRefused(flipped, *whole, what);
            } else {
                decodeOrRefuse(flipped);
            }
        }
    }
}

#ifdef __GLIBC__
// New memory is filled with one value and then with another: a decoder that left a pixel as it found it would show.
TEST(DamagedPicture, ShowsNoMemoryOfOtherPictures) {
    for (const char* extension : kExtensions) {
        const FileBytes file = photo(extension);
        for (std::size_t at = 20; at < file.size(); at += file.size() / 100 + 1) {
            FileBytes damaged = file;
            for (std::size_t i = at; i < std::min(at + 6, file.size()); ++i) damaged[i] = std::uint8_t(i * 151);
            mallopt(M_PERTURB, 0x11);
            const auto first = decodeOrRefuse(damaged);
            mallopt(M_PERTURB, 0xCC);
            const auto second = decodeOrRefuse(damaged);
            mallopt(M_PERTURB, 0);
            ASSERT_EQ(bool(first), bool(second)) << extension << " damaged at " << at;
            if (!first) continue;
            ASSERT_EQ(first->size(), second->size());
            ASSERT_TRUE(std::equal(first->row(0), first->row(0) + first->bytes(), second->row(0)))
                << extension << " damaged at " << at;
        }
    }
}
#endif

TEST(AbsurdDimensions, AreRefusedBeforeAnyMemoryIsTaken) {
    const std::vector<FileBytes> files{
        test::pngClaiming(100'000, 100'000),   test::pngClaiming(0x7FFFFFFF, 0x7FFFFFFF),
        test::pngClaiming(0xFFFFFFFF, 1),      test::pngClaiming(1, 2'000'000),
        test::jpegClaiming(65'500, 65'500),    test::bmpClaiming(0x7FFFFFFF, 0x7FFFFFFF),
        test::bmpClaiming(60'000, 0x80000000), test::tiffClaiming(0xFFFFFFFF, 0xFFFFFFFF),
        test::tiffClaiming(50'000, 50'000),    test::webpClaiming(1U << 24, 1U << 24)};
    for (const auto& file : files) {
        try {
            decodeImage(file, "bomb");
            ADD_FAILURE() << "it was decoded";
        } catch (const Error& error) {
            // A decoder may refuse what goes beyond its own bounds first.
            const std::string said = error.what();
            EXPECT_TRUE((said.starts_with("bomb claims to be ") && said.find("too large") != std::string::npos) ||
                        said.starts_with("bomb can't be decoded ("))
                << said;
        }
    }
}

TEST(AbsurdDimensions, IncludeNone) {
    for (const auto& file : {test::pngClaiming(0, 5), test::pngClaiming(5, 0), test::bmpClaiming(0, 0),
                             test::tiffClaiming(0, 9), test::jpegClaiming(0, 0)}) {
        EXPECT_FALSE(decodeOrRefuse(file));
    }
}

// The claim fits into memory, and the file holds nothing of it.
TEST(AbsurdDimensions, WithoutPixelsAreRefused) {
    for (const auto& file :
         {test::pngClaiming(5'000, 5'000), test::jpegClaiming(5'000, 5'000), test::bmpClaiming(5'000, 5'000),
          test::tiffClaiming(5'000, 5'000), test::webpClaiming(5'000, 5'000)}) {
        EXPECT_FALSE(decodeOrRefuse(file));
    }
}

/// A progressive JPEG whose first scan is repeated; each costs a decoder a pass over all the blocks.
FileBytes repeatedScans(int scans) {
    return test::progressiveJpeg({8, 8}, std::vector<FileBytes>(std::size_t(scans), test::emptyScan(1, 0, 0)));
}

// libjpeg would show grey, and gives no warning.
TEST(JpegWithoutAScan, IsRefused) {
    const FileBytes first = test::emptyScan(1, 0, 63), second = test::emptyScan(2, 0, 63);
    const FileBytes third = test::emptyScan(3, 0, 63);
    EXPECT_TRUE(decodeOrRefuse(test::baselineJpeg({8, 8}, 3, {first, second, third})));
    EXPECT_FALSE(decodeOrRefuse(test::baselineJpeg({8, 8}, 3, {first, third})));
    const FileBytes means = test::emptyScan(1, 0, 0), details = test::emptyScan(1, 1, 63);
    EXPECT_TRUE(decodeOrRefuse(test::progressiveJpeg({8, 8}, {means, details})));
    EXPECT_FALSE(decodeOrRefuse(test::progressiveJpeg({8, 8}, {details})));
}

TEST(ScanBomb, IsRefused) {
    EXPECT_TRUE(decodeOrRefuse(repeatedScans(10)));
    EXPECT_FALSE(decodeOrRefuse(repeatedScans(1000)));
}

// The end is there, and the middle is not: libjpeg would fill in grey.
TEST(JpegWithoutItsMiddle, IsRefused) {
    FileBytes file = photo(".jpg");
    file.erase(file.begin() + std::ptrdiff_t(file.size() / 2), file.end() - 20);
    EXPECT_FALSE(decodeOrRefuse(file));
}

TEST(TiffWithShortStrips, IsRefused) {
    EXPECT_TRUE(decodeOrRefuse(test::tiffClaiming(2, 2)));
    EXPECT_FALSE(decodeOrRefuse(test::tiffClaiming(20, 30)));
    FileBytes beyond = test::tiffClaiming(2, 2);
    beyond[10 + 4 * 12 + 8] = 255;  // where the strip begins
    EXPECT_FALSE(decodeOrRefuse(beyond));
}

/// A person's outline, roughly: plain areas and slopes, as compression likes them; strips of 16 rows.
FileBytes compressedTiff(int compression, int channels, int bits) {
    test::Samples picture{{96, 80}, channels, bits, {}};
    for (int y = 0; y < picture.size.height; ++y) {
        for (int x = 0; x < picture.size.width; ++x) {
            const int value = x < 40 ? 30 : y < 40 ? x * 2 : 200;
            for (int c = 0; c < channels; ++c) picture.values.push_back(std::uint16_t(bits == 16 ? value << 8 : value));
        }
    }
    return test::encodeTiff(picture, compression, 16);
}

struct Compressed {
    const char* name;
    int compression, channels, bits;
};
constexpr Compressed kCompressed[] = {{"LZW", 5, 3, 8},           {"JPEG", 7, 3, 8},        {"Deflate", 8, 4, 8},
                                      {"Deflate", 8, 1, 16},      {"LZW", 5, 3, 16},        {"PackBits", 32773, 3, 8},
                                      {"PackBits", 32773, 1, 16}, {"PackBits", 32773, 1, 8}};

// A decoder that goes on after an error shows grey, black or what was in memory. Damage that still yields as many bytes
// as the strip has pixels can't be told; it stays in its strip.
TEST(TiffWithADamagedStrip, IsRefused) {
    int shown = 0;
    for (const auto& [name, compression, channels, bits] : kCompressed) {
        const FileBytes file = compressedTiff(compression, channels, bits);
        const auto whole = decodeOrRefuse(file);
        ASSERT_TRUE(whole) << name;
        const auto directory = TiffDirectory::open(file);
        const auto offsets = directory->field(273), counts = directory->field(279);
        ASSERT_EQ(offsets.count, 5U);
        for (std::uint32_t strip = 0; strip < offsets.count; ++strip) {
            const std::uint32_t begin = directory->value(offsets, strip), bytes = directory->value(counts, strip);
            for (const int pattern : {0x00, 0x81, 0xFF}) {
                FileBytes damaged = file;
                const auto middle = damaged.begin() + std::ptrdiff_t(begin + bytes / 3);
                std::fill(middle, middle + std::ptrdiff_t(bytes / 3), std::uint8_t(pattern));
                const auto image = decodeOrRefuse(damaged);
                if (!image) continue;
                ++shown;
                for (int y = 0; y < 80; ++y) {
                    if (y / 16 == int(strip)) continue;
                    EXPECT_TRUE(std::equal(image->row(y), image->row(y) + 96 * 4, whole->row(y)))
                        << name << ", " << bits << " bits, strip " << strip << " filled with " << pattern;
                }
            }
        }
    }
    EXPECT_LE(shown, 1) << "of 120";
}

TEST(DamagedModel, IsRefusedAtEveryLengthAndNeverCrashes) {
    const auto file = test::encodeSafetensors(test::randomUNet({4, 8, 16}, 1), test::unetMetadata({4, 8, 16}));
    const auto load = [](std::span<const std::uint8_t> bytes) {
        try {
            UNet::load(Safetensors::parse(bytes, "net"));
            return true;
        } catch (const Error& error) {
            EXPECT_EQ(error.category, ErrorCategory::model);
            EXPECT_TRUE(isOneSentence(error.what())) << error.what();
            return false;
        }
    };
    ASSERT_TRUE(load(file));
    for (std::size_t size = 0; size < file.size(); size += size < 64 ? 1 : file.size() / 200) {
        EXPECT_FALSE(load(std::span(file).first(size))) << size;
    }
    for (std::size_t at = 0; at < file.size(); at += at < 64 ? 1 : 37) {
        auto flipped = file;
        flipped[at] ^= std::uint8_t(1U << (at % 8));
        load(flipped);  // a flipped weight is another weight
    }
}

}  // namespace
}  // namespace matte
