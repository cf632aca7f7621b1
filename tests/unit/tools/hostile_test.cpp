// SPDX-License-Identifier: Apache-2.0
// The program on files that are damaged, cut off, absurd or something else entirely. Each gives one clear sentence and
// an exit code that is not 0, and none a crash or a half-written result.
#include <cmath>

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/support/files/absurd_picture.h"
#include "tests/support/files/model_file.h"
#include "tests/support/files/picture_file.h"
#include "tests/support/files/scratch_folder.h"
#include "tests/support/running/program.h"

namespace matte {
namespace {

namespace fs = std::filesystem;
using test::bytesOf;
using test::FileBytes;

FileBytes photo(const std::string& extension) {
    return test::encode(test::testCard({61, 43}, 3, 8), extension);
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
            {"half.jpg", half(".jpg"), 3, "can't be decoded ("},
            {"half.png", half(".png"), 3, "can't be decoded ("},
            {"half.webp", half(".webp"), 3, "can't be decoded ("},
            {"half.tif", half(".tif"), 3, "can't be decoded ("},
            {"half.bmp", half(".bmp"), 3, "ends before its picture does"},
            {"spoilt.jpg", spoiltJpeg, 3, "can't be decoded ("},
            {"spoilt.png", spoiltPng, 3, "can't be decoded ("},
            {"spoilt.tif", spoiltTiff, 3, "can't be decoded ("},
            {"huge.png", test::pngClaiming(1'000'000, 1'000'000), 3, "too large"},
            {"huge.jpg", test::jpegClaiming(65'000, 65'000), 3, "too large"},
            {"huge.tif", test::tiffClaiming(1'000'000, 1'000'000), 3, "too large"},
            {"flat.png", test::pngClaiming(0, 0), 3, "can't be decoded ("}};
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
