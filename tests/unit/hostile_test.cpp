// SPDX-License-Identifier: Apache-2.0
// Files that are damaged, cut off, absurd or something else entirely. Each gives one clear sentence and an exit code
// that is not 0, and none a crash, a half-written result, or pixels of another picture.
#include <cmath>
#include <cstdlib>

#include <gtest/gtest.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "inference/error.h"
#include "inference/io/image_file.h"
#include "inference/model/unet.h"
#include "tests/support/model_file.h"
#include "tests/support/picture_file.h"
#include "tests/support/program.h"
#include "tests/support/scratch_folder.h"

namespace matte {
namespace {

namespace fs = std::filesystem;
using test::bigEndian;
using test::bytesOf;
using test::FileBytes;
using test::joined;
using test::littleEndian;
using test::pngChunk;

const char* const kExtensions[] = {".jpg", ".png", ".webp", ".tif", ".bmp"};

bool isOneSentence(const std::string& text) {
    return !text.empty() && text.back() == '.' && text.find('\n') == std::string::npos;
}

/// Decodes, or returns nothing after checking the sentence.
std::shared_ptr<const Image> decodeOrRefuse(std::span<const std::uint8_t> bytes) {
    try {
        return decodeImage(bytes, "photo.xyz");
    } catch (const Error& error) {
        EXPECT_EQ(error.area, Area::input);
        EXPECT_TRUE(isOneSentence(error.what())) << error.what();
        EXPECT_EQ(std::string(error.what()).rfind("photo.xyz ", 0), 0U) << error.what();
        return nullptr;
    }
}

FileBytes photo(const std::string& extension) {
    return test::encode(test::testCard({61, 43}, 3, 8), extension);
}

// Every length up to the headers, then at regular steps. A JPEG may lose its last two bytes, the end marker.
TEST(CutOffPicture, IsRefusedAtEveryLength) {
    for (const char* extension : kExtensions) {
        const FileBytes file = photo(extension);
        const std::size_t step = std::max<std::size_t>(1, file.size() / 400);
        for (std::size_t size = 0; size < file.size(); size += size < 64 ? 1 : step) {
            EXPECT_FALSE(decodeOrRefuse(std::span(file).first(size))) << extension << " of " << size << " bytes";
        }
        EXPECT_FALSE(decodeOrRefuse(std::span(file).first(file.size() - 1))) << extension << " without its last byte";
        EXPECT_TRUE(decodeOrRefuse(file)) << extension << " as it was";
    }
}

TEST(CutOffPicture, SaysSo) {
    for (const char* extension : kExtensions) {
        const FileBytes file = photo(extension);
        try {
            decodeImage(std::span(file).first(file.size() * 2 / 3), "half");
            ADD_FAILURE() << extension;
        } catch (const Error& error) {
            EXPECT_STREQ(error.what(), "half ends before its picture does: copy or download it again.") << extension;
        }
    }
}

// PNG has checksums: any flipped bit that it doesn't ignore is found. The others may decode to another picture.
TEST(FlippedBits, NeverCrashAndAreFoundInPng) {
    for (const char* extension : kExtensions) {
        const FileBytes file = photo(extension);
        const std::size_t step = std::max<std::size_t>(1, file.size() / 300);
        for (std::size_t at = 0; at < file.size(); at += at < 128 ? 1 : step) {
            FileBytes flipped = file;
            flipped[at] ^= std::uint8_t(1U << (at % 8));
            const auto image = decodeOrRefuse(flipped);
            EXPECT_FALSE(image && std::string(extension) == ".png") << "bit " << at % 8 << " of byte " << at;
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

FileBytes pngClaiming(std::uint32_t width, std::uint32_t height) {
    return joined({bytesOf("\x89PNG\r\n\x1A\n"),
                   pngChunk("IHDR", joined({bigEndian(width, 4), bigEndian(height, 4), {8, 2, 0, 0, 0}})),
                   pngChunk("IDAT", {0x78, 0x01}), pngChunk("IEND", {})});
}

/// The header alone, as a decoder that trusts it would meet it.
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

FileBytes tiffField(std::uint32_t tag, std::uint32_t value) {
    return joined({littleEndian(tag, 2), littleEndian(4, 2), littleEndian(1, 4), littleEndian(value, 4)});
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

TEST(AbsurdDimensions, AreRefusedBeforeAnyMemoryIsTaken) {
    const std::vector<FileBytes> files{pngClaiming(100'000, 100'000),   pngClaiming(0x7FFFFFFF, 0x7FFFFFFF),
                                       pngClaiming(0xFFFFFFFF, 1),      pngClaiming(1, 2'000'000),
                                       jpegClaiming(65'500, 65'500),    bmpClaiming(0x7FFFFFFF, 0x7FFFFFFF),
                                       bmpClaiming(60'000, 0x80000000), tiffClaiming(0xFFFFFFFF, 0xFFFFFFFF),
                                       tiffClaiming(50'000, 50'000),    webpClaiming(1U << 24, 1U << 24)};
    for (const auto& file : files) {
        try {
            decodeImage(file, "bomb");
            ADD_FAILURE() << "it was decoded";
        } catch (const Error& error) {
            EXPECT_EQ(std::string(error.what()).rfind("bomb claims to be ", 0), 0U) << error.what();
            EXPECT_NE(std::string(error.what()).find("too large"), std::string::npos) << error.what();
        }
    }
}

TEST(AbsurdDimensions, IncludeNone) {
    for (const auto& file : {pngClaiming(0, 5), pngClaiming(5, 0), bmpClaiming(0, 0), tiffClaiming(0, 9)}) {
        try {
            decodeImage(file, "nothing");
            ADD_FAILURE() << "it was decoded";
        } catch (const Error& error) {
            EXPECT_STREQ(error.what(), "nothing has no pixels: open another picture.");
        }
    }
    EXPECT_FALSE(decodeOrRefuse(jpegClaiming(0, 0)));
}

// The claim fits into memory, and the file holds nothing of it.
TEST(AbsurdDimensions, WithoutPixelsAreRefused) {
    for (const auto& file : {pngClaiming(5'000, 5'000), jpegClaiming(5'000, 5'000), bmpClaiming(5'000, 5'000),
                             tiffClaiming(5'000, 5'000), webpClaiming(5'000, 5'000)}) {
        EXPECT_FALSE(decodeOrRefuse(file));
    }
}

/// A progressive JPEG of one grey block whose first scan is repeated; each costs a decoder a pass over all the blocks.
FileBytes repeatedScans(int scans) {
    const FileBytes quantisation = joined({{0xFF, 0xDB, 0, 67, 0}, FileBytes(64, 1)});
    const FileBytes frame{0xFF, 0xC2, 0, 11, 8, 0, 8, 0, 8, 1, 1, 0x11, 0};
    const FileBytes codes = joined({{0xFF, 0xC4, 0, 20, 0, 1}, FileBytes(15), {0}});
    FileBytes file = joined({{0xFF, 0xD8}, quantisation, frame, codes});
    for (int i = 0; i < scans; ++i) file = joined({file, {0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 0, 0, 0x7F}});
    return joined({file, {0xFF, 0xD9}});
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
    EXPECT_TRUE(decodeOrRefuse(tiffClaiming(2, 2)));
    EXPECT_FALSE(decodeOrRefuse(tiffClaiming(2, 3)));
    FileBytes beyond = tiffClaiming(2, 2);
    beyond[10 + 4 * 12 + 8] = 255;  // where the strip begins
    EXPECT_FALSE(decodeOrRefuse(beyond));
}

TEST(DamagedModel, IsRefusedAtEveryLengthAndNeverCrashes) {
    const auto file = test::encodeSafetensors(test::randomUNet({4, 8, 16}, 1), test::unetMetadata({4, 8, 16}));
    const auto load = [](std::span<const std::uint8_t> bytes) {
        try {
            UNet::load(Safetensors::parse(bytes, "net"));
            return true;
        } catch (const Error& error) {
            EXPECT_EQ(error.area, Area::model);
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

/// A file to give to the program, and what it should answer.
struct Hostile {
    const char* name;
    FileBytes bytes;
    int exitCode;
    const char* said;
};

std::vector<std::uint8_t> poisonedModel(float value) {
    auto tensors = test::randomUNet({4, 8, 16}, 1);
    tensors["down2.conv1.weight"].values[5] = value;
    return test::encodeSafetensors(tensors, test::unetMetadata({4, 8, 16}));
}

std::vector<Hostile> hostilePictures() {
    FileBytes spoiltJpeg = photo(".jpg");
    for (std::size_t i = spoiltJpeg.size() / 2; i < spoiltJpeg.size() / 2 + 40; ++i) spoiltJpeg[i] = 0xFF;
    FileBytes spoiltPng = photo(".png");
    spoiltPng[spoiltPng.size() / 2] ^= 0x10;
    FileBytes spoiltTiff = test::encode(test::testCard({61, 43}, 3, 16), ".tif");
    std::fill(spoiltTiff.begin() + 8, spoiltTiff.begin() + 400, std::uint8_t(0xFF));
    const auto half = [](const char* extension) {
        FileBytes file = photo(extension);
        file.resize(file.size() / 2);
        return file;
    };
    return {{"empty.png", {}, 3, "is empty"},
            {"text.jpg", bytesOf("dear diary, this is no picture\n"), 3, "is not a JPEG"},
            {"one_byte.bmp", {'B'}, 3, "is not a JPEG"},
            {"half.jpg", half(".jpg"), 3, "ends before its picture does"},
            {"half.png", half(".png"), 3, "ends before its picture does"},
            {"half.webp", half(".webp"), 3, "ends before its picture does"},
            {"half.tif", half(".tif"), 3, "ends before its picture does"},
            {"half.bmp", half(".bmp"), 3, "ends before its picture does"},
            {"spoilt.jpg", spoiltJpeg, 3, "is damaged"},
            {"spoilt.png", spoiltPng, 3, "is damaged"},
            {"spoilt.tif", spoiltTiff, 3, "is damaged"},
            {"huge.png", pngClaiming(1'000'000, 1'000'000), 3, "too large"},
            {"huge.jpg", jpegClaiming(65'000, 65'000), 3, "too large"},
            {"huge.tif", tiffClaiming(0xFFFFFFFF, 0xFFFFFFFF), 3, "too large"},
            {"flat.png", pngClaiming(0, 0), 3, "has no pixels"}};
}

std::vector<Hostile> hostileModels() {
    const auto whole = test::encodeSafetensors(test::randomUNet({4, 8, 16}, 1));
    const auto data = std::span(whole).first(100);
    return {{"empty.safetensors", {}, 5, "empty.safetensors"},
            {"text.safetensors", bytesOf("dear diary, this is no model\n"), 5, "text.safetensors"},
            {"half.safetensors", {whole.begin(), whole.begin() + std::ptrdiff_t(whole.size() / 2)}, 5, "half"},
            {"header.safetensors", test::rawSafetensors("{}", data, std::int64_t(1) << 62), 5, "header.safetensors"},
            {"long.safetensors", test::rawSafetensors("{}", data, 1'000'000), 5, "long.safetensors"},
            {"nothing.safetensors", test::rawSafetensors("{}"), 5, "nothing.safetensors"},
            {"nan.safetensors", poisonedModel(std::nanf("")), 5, "down2.conv1.weight"},
            {"infinite.safetensors", poisonedModel(INFINITY), 5, "down2.conv1.weight"},
            {"picture.safetensors", photo(".png"), 5, "picture.safetensors"}};
}

class HostileProgram : public testing::Test {
protected:
    HostileProgram() {
        test::writeModel(folder_ / "good.safetensors", test::randomUNet({4, 8, 16}, 1));
        test::writeBytes(folder_ / "good.png", photo(".png"));
    }
    void expectRefusal(const std::string& input, const std::string& model, int exitCode, const std::string& said) {
        const auto outcome = test::runCli({"image", (folder_ / input).string(), "-o", (folder_ / "out.png").string(),
                                           "--model", (folder_ / model).string(), "--engine", "cpu", "--size", "64"});
        SCOPED_TRACE(input + " with " + model);
        EXPECT_EQ(outcome.exitCode, exitCode) << outcome.err;
        EXPECT_EQ(outcome.signal, 0);
        EXPECT_EQ(outcome.err.rfind("matte-cli: ", 0), 0U) << outcome.err;
        EXPECT_NE(outcome.err.find(said), std::string::npos) << outcome.err;
        EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << "more than one line: " << outcome.err;
        EXPECT_TRUE(outcome.err.ends_with(".\n")) << outcome.err;
        EXPECT_FALSE(fs::exists(folder_ / "out.png"));
    }

    test::ScratchFolder folder_;
};

TEST_F(HostileProgram, TellsWhatIsWrongWithEachPicture) {
    for (const auto& file : hostilePictures()) {
        test::writeBytes(folder_ / file.name, file.bytes);
        expectRefusal(file.name, "good.safetensors", file.exitCode, file.said);
    }
}

TEST_F(HostileProgram, TellsWhatIsWrongWithEachModel) {
    for (const auto& file : hostileModels()) {
        test::writeBytes(folder_ / file.name, file.bytes);
        expectRefusal("good.png", file.name, file.exitCode, file.said);
    }
}

TEST_F(HostileProgram, RefusesWhatIsNoFile) {
    fs::create_directory(folder_ / "folder.png");
    fs::create_directory(folder_ / "folder.safetensors");
    fs::create_symlink("loop.png", folder_ / "loop.png");
    expectRefusal("folder.png", "good.safetensors", 3, "holds no JPEG");
    expectRefusal("loop.png", "good.safetensors", 3, "loop.png");
    expectRefusal("none.png", "good.safetensors", 3, "doesn't exist");
    expectRefusal("good.png", "folder.safetensors", 5, "folder.safetensors");
    expectRefusal("good.png", "none.safetensors", 5, "none.safetensors");
}

TEST_F(HostileProgram, RefusesWhatItMayNotRead) {
    if (::geteuid() == 0) GTEST_SKIP() << "runs as root, who may read everything";
    fs::permissions(folder_ / "good.png", fs::perms::none);
    expectRefusal("good.png", "good.safetensors", 3, "Permission denied");
    fs::permissions(folder_ / "good.safetensors", fs::perms::none);
    expectRefusal("good.png", "good.safetensors", 5, "good.safetensors");
}

}  // namespace
}  // namespace matte
