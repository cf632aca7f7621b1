// SPDX-License-Identifier: Apache-2.0
// Rows of any format as R, G, B, A, and as they are shown when the person stands elsewhere.
#include <cmath>

#include <gtest/gtest.h>

#include "inference/matting/resample.h"
#include "inference/matting/source_rows.h"
#include "inference/media/frame_convert.h"
#include "tests/support/pictures/scene.h"

namespace matte {
namespace {

/// A picture in which each pixel tells where it is.
Image card(Size size) {
    Image image(size, PixelFormat::rgba8);
    for (int y = 0; y < size.height; ++y) {
        for (int x = 0; x < size.width; ++x) {
            const std::uint8_t pixel[4] = {std::uint8_t(4 * x), std::uint8_t(4 * y), 200, 255};
            std::copy_n(pixel, 4, image.row(y) + 4 * x);
        }
    }
    return image;
}

Image yuvOf(const Image& rgba, PixelFormat format) {
    Image bgr(rgba.size(), PixelFormat::bgr8), yuv(rgba.size(), format);
    for (int y = 0; y < rgba.size().height; ++y) {
        for (int x = 0; x < rgba.size().width; ++x) {
            for (int c = 0; c < 3; ++c) bgr.row(y)[3 * x + c] = rgba.row(y)[4 * x + 2 - c];
        }
    }
    bgrToYuv(bgr.view(), yuv);
    return yuv;
}

TEST(RgbaRow, YuvIsConvertedByTheOneFormula) {
    for (const PixelFormat format : {PixelFormat::nv12, PixelFormat::yuyv}) {
        for (const Size size : {Size{1, 1}, Size{2, 2}, Size{67, 5}, Size{130, 64}, Size{129, 3}}) {
            Image yuv(size, format);
            for (std::size_t i = 0; i < yuv.bytes(); ++i) yuv.row(0)[i] = std::uint8_t(i * 2654435761U >> 13);
            std::vector<std::uint8_t> buffer((std::size_t(size.width) + 1) * 4);
            for (int y = 0; y < size.height; ++y) {
                const std::uint8_t* row = rgbaRow(yuv.view(), y, buffer.data());
                for (int x = 0; x < size.width; ++x) {
                    const bool nv12 = format == PixelFormat::nv12;
                    const std::uint8_t* chroma =
                        nv12 ? yuv.row(size.height + y / 2) + x / 2 * 2 : yuv.row(y) + x / 2 * 4 + 1;
                    const Color color = yuvToRgb(yuv.row(y)[nv12 ? x : 2 * x], chroma[0], chroma[nv12 ? 1 : 2]);
                    const float expected[3] = {color.r, color.g, color.b};
                    for (int c = 0; c < 3; ++c) {
                        EXPECT_NEAR(row[4 * x + c], std::clamp(expected[c], 0.0F, 255.0F), 0.5001)
                            << size.width << "x" << size.height << " at " << x << ", " << y;
                    }
                    EXPECT_EQ(row[4 * x + 3], 255);
                }
            }
        }
    }
}

TEST(FrameShrinker, GivesWhatTheResamplingOfPhotosGives) {
    const Image photo = test::makeScene({320, 240}).photo;
    Image clear = test::makeScene({320, 240}).photo;
    for (int x = 0; x < 320; ++x) clear.row(100)[4 * x + 3] = std::uint8_t(x % 256);
    const Image nv12 = yuvOf(photo, PixelFormat::nv12), yuyv = yuvOf(photo, PixelFormat::yuyv);
    FrameShrinker shrinker;
    for (const Image* image : std::initializer_list<const Image*>{&photo, &clear, &nv12, &yuyv}) {
        for (const Size size : {Size{100, 75}, Size{37, 50}, Size{400, 240}}) {
            Planes found;
            shrinker.shrink(image->view(), size, found);
            const Planes expected = resampleToPlanes(image->view(), size);
            ASSERT_EQ(found.values.size(), expected.values.size());
            for (std::size_t i = 0; i < expected.values.size(); ++i) {
                ASSERT_NEAR(found.values[i], expected.values[i], 2e-6) << "format " << int(image->format());
            }
        }
    }
}

TEST(InverseMapping, AsSeenIsExactlyThat) {
    const InverseMapping mapping = inverseMapping(false, 1, 0, 0);
    EXPECT_EQ(seenAt(mapping.perX, mapping.fromX, 777, 1280), 777);
    EXPECT_EQ(seenAt(mapping.perY, mapping.fromY, 0, 720), 0);
}

TEST(InverseMapping, MirroredIsExactlyTheOtherPixel) {
    const InverseMapping mapping = inverseMapping(true, 1, 0, 0);
    for (const int x : {0, 5, 640, 1279}) EXPECT_EQ(seenAt(mapping.perX, mapping.fromX, x, 1280), 1279 - x);
    EXPECT_EQ(seenAt(mapping.perY, mapping.fromY, 9, 720), 9) << "never upside down";
}

TEST(InverseMapping, GrowsAboutTheMiddleOfTheLowerEdgeThenMoves) {
    const InverseMapping half = inverseMapping(false, 0.5F, 0, 0);
    EXPECT_NEAR(seenAt(half.perY, half.fromY, 99, 100), 98.5, 1e-3) << "the feet stay";
    EXPECT_NEAR(seenAt(half.perY, half.fromY, 50, 100), 0.5, 1e-3) << "the head comes down to the middle";
    EXPECT_NEAR(seenAt(half.perX, half.fromX, 50, 100), 50.5, 1e-3) << "the middle stays";
    const InverseMapping moved = inverseMapping(false, 1, 0.25F, -0.5F);
    EXPECT_NEAR(seenAt(moved.perX, moved.fromX, 75, 100), 50, 1e-3) << "to the right";
    EXPECT_NEAR(seenAt(moved.perY, moved.fromY, 10, 100), 60, 1e-3) << "up";
    EXPECT_EQ(shownAt(moved.perX, moved.fromX, 50, 100, 100), 75) << "and back";
}

TEST(PlacedRows, AMirroredPictureIsTheSamePixels) {
    const Image image = card({61, 9});
    PlacedRows rows;
    rows.prepare(image.size(), inverseMapping(true, 1, 0, 0));
    for (int y = 0; y < 9; ++y) {
        const std::uint8_t* row = rows.row(image.view(), y);
        for (int x = 0; x < 61; ++x) {
            EXPECT_TRUE(std::equal(row + 4 * x, row + 4 * x + 4, image.row(y) + 4 * (60 - x)));
        }
    }
}

TEST(PlacedRows, WhereNothingWasSeenItIsTransparent) {
    const Image image = card({60, 40});
    PlacedRows rows;
    rows.prepare(image.size(), inverseMapping(false, 0.5F, 0, 0));
    EXPECT_EQ(rows.row(image.view(), 5)[4 * 30 + 3], 0) << "above the head";
    const std::uint8_t* row = rows.row(image.view(), 30);
    EXPECT_EQ(row[4 * 2 + 3], 0) << "to the left";
    EXPECT_EQ(row[4 * 30 + 3], 255);
    EXPECT_NEAR(row[4 * 30], 4 * seenAt(2, inverseMapping(false, 0.5F, 0, 0).fromX, 30, 60), 1);
    EXPECT_NEAR(row[4 * 30 + 1], 4 * seenAt(2, inverseMapping(false, 0.5F, 0, 0).fromY, 30, 40), 1);
}

TEST(PlacedRows, WhatIsTransparentHasNoSay) {
    Image image(Size{2, 1}, PixelFormat::rgba8);
    const std::uint8_t pixels[8] = {200, 0, 0, 255, 0, 255, 0, 0};
    std::copy_n(pixels, 8, image.row(0));
    PlacedRows rows;
    rows.prepare(image.size(), inverseMapping(false, 2, 0, 0));
    for (int x = 0; x < 2; ++x) EXPECT_EQ(rows.row(image.view(), 0)[4 * x + 1], 0);
    EXPECT_EQ(rows.row(image.view(), 0)[0], 200);
}

}  // namespace
}  // namespace matte
