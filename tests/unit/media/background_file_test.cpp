// SPDX-License-Identifier: Apache-2.0
// What a file gives to stand behind a person: a picture, or a video's first frame, or a sentence.
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "inference/core/error.h"
#include "inference/media/background_file.h"
#include "tests/support/files/model_file.h"
#include "tests/support/files/picture_file.h"
#include "tests/support/files/scratch_folder.h"
#include "tests/support/files/video_file.h"

namespace matte {
namespace {

namespace fs = std::filesystem;
using test::ScratchFolder;

Background from(const fs::path& path) {
    Background background;
    background.kind = Background::Kind::image;
    background.imagePath = path.string();
    readBackground(background);
    return background;
}

TEST(BackgroundFile, APictureStandsStillWhateverItsName) {
    const ScratchFolder folder;
    for (const char* name : {"a.png", "picture", "picture.mp4"}) {
        test::writeBytes(folder / name, test::encode(test::sixAreas({30, 20}), ".png"));
        const Background read = from(folder / name);
        EXPECT_FALSE(read.moving) << name;
        EXPECT_EQ(read.image->size(), (Size{30, 20}));
    }
}

TEST(BackgroundFile, AVideoGivesItsFirstFrame) {
    const ScratchFolder folder;
    for (const char* name : {"a.mp4", "a.avi"}) {
        const Background read = from(test::writeVideo(folder / name));
        EXPECT_TRUE(read.moving);
        ASSERT_EQ(read.image->format(), PixelFormat::rgba8);
        EXPECT_EQ(read.image->size(), (Size{96, 64}));
        EXPECT_EQ(test::videoFrameIn(*read.image), 0) << name;
        EXPECT_EQ(read.image->row(0)[3], 255);
    }
    fs::rename(folder / "a.mp4", folder / "no extension");
    EXPECT_TRUE(from(folder / "no extension").moving);
}

TEST(BackgroundFile, SaysWhatItCantShow) {
    const ScratchFolder folder;
    test::writeBytes(folder / "empty.mp4", {});
    std::ofstream(folder / "text.mp4") << "ffconcat version 1.0\nfile /etc/passwd\n";
    std::ofstream(folder / "text.png") << "no picture";
    std::ofstream(folder / "noise.webm") << std::string("\x1a\x45\xdf\xa3\x00\xff\x01", 7) << std::string(4000, '\xee');
    fs::create_directory(folder / "folder.mp4");
    ::mkfifo((folder / "pipe").c_str(), 0600);
    test::writeVideo(folder / "cut.mp4");
    fs::resize_file(folder / "cut.mp4", fs::file_size(folder / "cut.mp4") / 2);  // its index is at the end
    for (const std::string name :
         {"none.mp4", "empty.mp4", "text.mp4", "text.png", "noise.webm", "folder.mp4", "pipe", "cut.mp4"}) {
        try {
            from(folder / name);
            ADD_FAILURE() << name << " was read";
        } catch (const Error& error) {
            EXPECT_EQ(error.category, ErrorCategory::input);
            EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
            EXPECT_NE(std::string(error.what()).find(": "), std::string::npos) << error.what();
        }
    }
}

TEST(BackgroundFile, VideosAreKnownByTheirNames) {
    for (const char* name : {"a.mp4", "a.WebM", "a.b.mov"}) EXPECT_TRUE(hasVideoExtension(name)) << name;
    for (const char* name : {"a.png", "mp4", "a.mp4.txt", ""}) EXPECT_FALSE(hasVideoExtension(name)) << name;
}

}  // namespace
}  // namespace matte
