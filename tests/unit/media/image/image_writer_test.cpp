// SPDX-License-Identifier: Apache-2.0
// Pictures are written in each format, and a write is all or nothing.
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inference/core/error.h"
#include "inference/media/image/bytes.h"
#include "inference/media/image/image_file.h"
#include "tests/support/files/model_file.h"
#include "tests/support/files/scratch_folder.h"
#include "tests/support/files/tiff_directory.h"

namespace matte {
namespace {

namespace fs = std::filesystem;
using test::ScratchFolder;

/// The sentence of the Error(output) that writing throws; empty when it throws none.
std::string refusal(const fs::path& path, const ImageView& image) {
    try {
        writeImage(path, image);
    } catch (const Error& error) {
        EXPECT_EQ(error.category, ErrorCategory::output) << error.what();
        return error.what();
    }
    return "";
}

Image noise(Size size, PixelFormat format) {
    Image image(size, format);
    std::uint32_t value = 1;
    for (std::size_t i = 0; i < image.bytes(); ++i) image.row(0)[i] = std::uint8_t((value = value * 1664525 + 7) >> 24);
    return image;
}

/// What a reader should find for one channel of a written pixel, `alphaKept` or blended over white.
int written(const Image& image, int x, int y, int channel, bool alphaKept) {
    const std::uint8_t* pixel = image.row(y) + x * bytesPerPixel(image.format());
    if (channel == 3) return image.format() == PixelFormat::rgba8 && alphaKept ? pixel[3] : 255;
    if (image.format() == PixelFormat::gray8) return pixel[0];
    if (image.format() == PixelFormat::bgr8) return pixel[2 - channel];
    if (alphaKept) return pixel[channel];
    return int(std::lround((pixel[channel] * pixel[3] + 255.0 * (255 - pixel[3])) / 255));
}

TEST(WriteImage, RoundTripsWithoutLoss) {
    const ScratchFolder folder;
    for (const auto format : {PixelFormat::gray8, PixelFormat::bgr8, PixelFormat::rgba8}) {
        for (const Size size : {Size{1, 1}, {33, 21}}) {
            const Image image = noise(size, format);
            for (const char* name : {"a.png", "a.tif", "a.TIFF", "a.bmp"}) {
                writeImage(folder / name, image.view());
                const auto read = readImage(folder / name);
                ASSERT_EQ(read->size(), size);
                const bool alphaKept = std::string(name) != "a.bmp";
                for (int y = 0; y < size.height; ++y) {
                    for (int i = 0; i < size.width * 4; ++i) {
                        ASSERT_EQ(read->row(y)[i], written(image, i / 4, y, i % 4, alphaKept)) << name;
                    }
                }
            }
        }
    }
}

TEST(WriteImage, LossyFormatsComeCloseAndBlendOverWhite) {
    const ScratchFolder folder;
    Image image({32, 32}, PixelFormat::rgba8);
    const std::uint8_t half[4] = {200, 100, 0, 128};
    for (int i = 0; i < 32 * 32; ++i) std::copy_n(half, 4, image.row(0) + i * 4);
    writeImage(folder / "a.jpg", image.view());
    const auto jpeg = readImage(folder / "a.jpg");
    for (int c = 0; c < 3; ++c) EXPECT_NEAR(jpeg->row(9)[c], written(image, 0, 0, c, false), 2);
    writeImage(folder / "a.webp", image.view());
    const auto webp = readImage(folder / "a.webp");
    for (int c = 0; c < 4; ++c) EXPECT_NEAR(webp->row(9)[c], half[c], 4);
}

TEST(WriteImage, StoresNoAlphaThatSaysNothing) {
    const ScratchFolder folder;
    Image image = noise({64, 64}, PixelFormat::rgba8);
    for (std::size_t i = 3; i < image.bytes(); i += 4) image.row(0)[i] = 255;
    writeImage(folder / "opaque.png", image.view());
    image.row(63)[63 * 4 + 3] = 254;
    writeImage(folder / "clear.png", image.view());
    constexpr std::size_t kColorType = 25;  // of PNG's header: 2 is RGB, 6 is RGBA
    EXPECT_EQ(test::readBytes(folder / "opaque.png").at(kColorType), 2);
    EXPECT_EQ(test::readBytes(folder / "clear.png").at(kColorType), 6);
    EXPECT_EQ(readImage(folder / "clear.png")->row(63)[63 * 4 + 3], 254);
}

// Without the field ExtraSamples (338), which TIFF 6.0 asks for, other programs guess what the fourth sample is. The
// fields stand in the order of their tags, in a directory at an even offset.
TEST(WriteImage, NamesTheAlphaOfATiff) {
    const ScratchFolder folder;
    Image image = noise({33, 21}, PixelFormat::rgba8);
    writeImage(folder / "clear.tif", image.view());
    const auto clear = test::readBytes(folder / "clear.tif");
    const Bytes file(clear);
    const std::uint32_t directory = file.little(4, 4), fields = file.little(directory, 2);
    EXPECT_EQ(directory % 2, 0U);
    std::map<std::uint32_t, std::uint32_t> values;
    for (std::uint32_t i = 0; i < fields; ++i) {
        const std::uint32_t entry = directory + 2 + 12 * i, tag = file.little(entry, 2);
        EXPECT_TRUE(values.empty() || values.rbegin()->first < tag) << "tag " << tag << " is out of order";
        values[tag] = file.little(entry + 8, 2);
    }
    EXPECT_EQ(values.at(277), 4U);                            // samples a pixel
    EXPECT_EQ(values.count(338) ? int(values[338]) : -1, 2);  // the last one is a straight alpha
    EXPECT_TRUE(file.has(directory, 2 + 12 * fields + 4)) << "it is cut off";
    EXPECT_EQ(file.little(directory + 2 + 12 * fields, 4), 0U) << "it claims to have a second page";

    for (std::size_t i = 3; i < image.bytes(); i += 4) image.row(0)[i] = 255;
    writeImage(folder / "opaque.tif", image.view());
    EXPECT_FALSE(TiffDirectory::open(test::readBytes(folder / "opaque.tif"))->field(338).exists());
}

// A view into a larger picture has gaps between its rows.
TEST(WriteImage, FollowsTheStride) {
    const ScratchFolder folder;
    const Image image = noise({20, 10}, PixelFormat::rgba8);
    ImageView part = image.view();
    part.data += 5 * 4;
    part.size = {7, 10};
    writeImage(folder / "part.png", part);
    const auto read = readImage(folder / "part.png");
    for (int y = 0; y < 10; ++y) EXPECT_EQ(0, std::memcmp(read->row(y), image.row(y) + 20, 28));
}

TEST(WriteImage, SaysWhyItCannot) {
    const ScratchFolder folder;
    const Image image = noise({4, 4}, PixelFormat::rgba8);
    EXPECT_NE(refusal(folder / "a.gif", image.view()).find("extension that can't be written"), std::string::npos);
    EXPECT_NE(refusal(folder / "a", image.view()).find("extension that can't be written"), std::string::npos);
    EXPECT_NE(refusal(folder / "none/a.png", image.view()).find("folder doesn't exist"), std::string::npos);
    fs::create_directory(folder / "taken.png");
    EXPECT_NE(refusal(folder / "taken.png", image.view()).find("is a folder"), std::string::npos);
    const Image wide({70'000, 1}, PixelFormat::gray8);
    EXPECT_NE(refusal(folder / "wide.jpg", wide.view()).find("use png"), std::string::npos);
    EXPECT_NE(refusal(folder / "wide.webp", wide.view()).find("use png"), std::string::npos);
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"taken.png"}));
}

/// While it lives, no file of this process can grow beyond `bytes`, as on a full disk.
class FullDisk {
public:
    explicit FullDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        rlimit small = before_;
        small.rlim_cur = bytes;
        ::setrlimit(RLIMIT_FSIZE, &small);
    }
    ~FullDisk() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }
    FullDisk(const FullDisk&) = delete;
    FullDisk& operator=(const FullDisk&) = delete;

private:
    rlimit before_{};
    void (*handler_)(int);
};

TEST(WriteImage, LeavesTheOldFileWhenTheDiskIsFull) {
    const ScratchFolder folder;
    writeImage(folder / "a.png", noise({4, 4}, PixelFormat::rgba8).view());
    const auto before = test::readBytes(folder / "a.png");
    const Image large = noise({200, 200}, PixelFormat::rgba8);
    std::string said;
    {
        const FullDisk full(1000);
        said = refusal(folder / "a.png", large.view());
    }
    EXPECT_NE(said.find("can't be written"), std::string::npos) << said;
    EXPECT_EQ(test::readBytes(folder / "a.png"), before);
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"a.png"}));
}

// The longest name that a file can have leaves no room for a longer temporary one.
TEST(WriteImage, TakesTheLongestName) {
    const ScratchFolder folder;
    const std::string name = std::string(251, 'n') + ".png";
    writeImage(folder / name, noise({4, 4}, PixelFormat::rgba8).view());
    EXPECT_EQ(folder.names(), (std::vector<std::string>{name}));
}

// The part file can be written, and only the last step fails: this name is one byte too long for a file.
TEST(WriteImage, IsNotKeptByWhatAnInterruptedProcessOfTheSameNumberLeft) {
    const ScratchFolder folder;
    const std::string part = ".matte-" + std::to_string(::getpid()) + "-";
    for (int i = 0; i < 500; ++i) std::ofstream(folder / (part + std::to_string(i) + ".part"));
    EXPECT_EQ(refusal(folder / "a.png", noise({5, 4}, PixelFormat::rgba8).view()), "");
    EXPECT_TRUE(readImage(folder / "a.png"));
}

TEST(WriteImage, LeavesNothingWhenTheRenameFails) {
    const ScratchFolder folder;
    const std::string name = std::string(252, 'n') + ".png";
    const auto said = refusal(folder / name, noise({4, 4}, PixelFormat::rgba8).view());
    EXPECT_NE(said.find("File name too long"), std::string::npos) << said;
    EXPECT_EQ(folder.names(), std::vector<std::string>{});
}

TEST(WriteImage, KeepsPermissionsAndLinks) {
    const ScratchFolder folder;
    const Image image = noise({4, 4}, PixelFormat::rgba8);
    writeImage(folder / "real.png", image.view());
    fs::permissions(folder / "real.png", fs::perms(0640));
    fs::create_symlink("real.png", folder / "link.png");
    writeImage(folder / "link.png", noise({9, 9}, PixelFormat::rgba8).view());
    EXPECT_TRUE(fs::is_symlink(folder / "link.png"));
    fs::create_symlink("to_be.png", folder / "early.png");
    fs::create_symlink(folder / "early.png", folder / "twice.png");
    writeImage(folder / "twice.png", noise({9, 9}, PixelFormat::rgba8).view());
    EXPECT_TRUE(fs::is_symlink(folder / "early.png") && fs::is_symlink(folder / "twice.png"));
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(folder / "to_be.png"))) << "what the links name is made";
    EXPECT_EQ(readImage(folder / "real.png")->size(), (Size{9, 9}));
    EXPECT_EQ(fs::status(folder / "real.png").permissions(), fs::perms(0640));
}

/// A file renamed over a pipe or over /dev/null would end it.
TEST(WriteImage, WritesThroughAPipe) {
    const ScratchFolder folder;
    const fs::path pipe = folder / "pipe.png";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const Image image = noise({40, 30}, PixelFormat::bgr8);
    std::string sentence;
    std::thread writer([&] { sentence = refusal(pipe, image.view()); });
    std::ifstream reader(pipe, std::ios::binary);
    const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(reader), {}};
    writer.join();
    EXPECT_EQ(sentence, "");
    EXPECT_EQ(decodeImage(bytes, "what came through")->size(), image.size());
    EXPECT_TRUE(fs::is_fifo(pipe));
}

}  // namespace
}  // namespace matte
