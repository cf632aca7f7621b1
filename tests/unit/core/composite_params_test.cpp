// SPDX-License-Identifier: Apache-2.0
// A background is written as one word, on the command line and in settings, and reads back as the same.
#include <gtest/gtest.h>

#include "inference/core/composite_params.h"
#include "inference/core/error.h"

namespace matte {
namespace {

TEST(Background, IsReadFromOneWord) {
    EXPECT_EQ(parseBackground("blur").kind, Background::Kind::blur);
    EXPECT_EQ(parseBackground("blur").blurStrength, 50);
    EXPECT_EQ(parseBackground("blur:1").blurStrength, 1);
    EXPECT_EQ(parseBackground("blur:33.5").blurStrength, 33.5F);
    EXPECT_EQ(parseBackground("blur:100").blurStrength, 100);
    EXPECT_EQ(parseBackground("color:#0a14FF").color, (Rgb{10, 20, 255}));
    EXPECT_EQ(parseBackground("image:/a b/c:d.jpg").imagePath, "/a b/c:d.jpg");
    EXPECT_FALSE(parseBackground("image:clip.mp4").moving) << "the file itself is not looked at";
    EXPECT_EQ(parseBackground("video:/a b/c:d.mp4").imagePath, "/a b/c:d.mp4");
    EXPECT_EQ(parseBackground("video:clip.mp4").kind, Background::Kind::image);
    EXPECT_TRUE(parseBackground("video:clip.mp4").moving);
    EXPECT_EQ(parseBackground("transparent").kind, Background::Kind::transparent);
}

TEST(Background, APathNeedsNoWordBefore) {
    for (const char* path : {"beach.jpg", "./beach", "/a b/c:d.mp4", "../video.webm"}) {
        EXPECT_EQ(parseBackground(path).kind, Background::Kind::image) << path;
        EXPECT_EQ(parseBackground(path).imagePath, path);
    }
}

TEST(Background, ReadsBackWhatItWrote) {
    for (const char* text : {"blur:50", "blur:1", "blur:33.5", "color:#0a14ff", "color:#000000", "image:/a/b.png",
                             "video:/a/b.mp4", "transparent"}) {
        EXPECT_EQ(toString(parseBackground(text)), text);
    }
}

TEST(Background, RefusesEverythingElse) {
    for (const char* text : {"",
                             "blu",
                             "blur:",
                             "blur:0",
                             "blur:101",
                             "blur:-5",
                             "blur:x",
                             "blur:5x",
                             "blur:nan",
                             "blur:inf",
                             "blur:1e9",
                             "color",
                             "color:",
                             "color:red",
                             "color:#12345",
                             "color:#1234567",
                             "color:#12345g",
                             "color:123456",
                             "color:#+12345",
                             "color:#-12345",
                             "color:# 12345",
                             "image",
                             "image:",
                             "video",
                             "video:",
                             "Video:clip",
                             "transparent:1",
                             "Blur",
                             " blur"}) {
        try {
            parseBackground(text);
            ADD_FAILURE() << "'" << text << "' was taken";
        } catch (const Error& error) {
            EXPECT_EQ(error.category, ErrorCategory::usage);
            EXPECT_NE(std::string(error.what()).find(": "), std::string::npos);
        }
    }
}

TEST(CompositeParams, DiffersWhenAnyPartDoes) {
    const CompositeParams params;
    CompositeParams other = params;
    EXPECT_EQ(params, other);
    other.threshold = 0.4F;
    EXPECT_NE(params, other);
    other = params;
    other.background.color.g ^= 1;
    EXPECT_NE(params, other);
    other = params;
    other.background.image = std::make_shared<const Image>(Size{1, 1}, PixelFormat::rgba8);
    EXPECT_NE(params, other);
}

}  // namespace
}  // namespace matte
