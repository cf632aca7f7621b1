// SPDX-License-Identifier: Apache-2.0
// Resampling: exact averages when shrinking, no shift, no colour from what is transparent.
#include <array>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "inference/matting/resample.h"

namespace matte {
namespace {

Image filled(Size size, std::array<std::uint8_t, 4> rgba) {
    Image image(size, PixelFormat::rgba8);
    for (int y = 0; y < size.height; ++y) {
        for (int x = 0; x < size.width; ++x) std::copy(rgba.begin(), rgba.end(), image.row(y) + 4 * x);
    }
    return image;
}

class TapsOfAnyScale : public testing::TestWithParam<std::pair<int, int>> {};

TEST_P(TapsOfAnyScale, SumToOneAndStayInside) {
    const auto [inputs, outputs] = GetParam();
    const Taps taps(inputs, outputs);
    for (int x = 0; x < outputs; ++x) {
        const auto span = taps.spans[std::size_t(x)];
        EXPECT_GE(span.first, 0);
        EXPECT_LE(span.first + span.count, inputs);
        EXPECT_NEAR(std::accumulate(taps.at(x), taps.at(x) + span.count, 0.0), 1, 1e-5);
    }
}

class TapsThatShrink : public TapsOfAnyScale {};

TEST_P(TapsThatShrink, CountEveryInputTheSame) {
    const auto [inputs, outputs] = GetParam();
    const Taps taps(inputs, outputs);
    std::vector<double> total(std::size_t(inputs), 0.0);
    for (int x = 0; x < outputs; ++x) {
        const auto span = taps.spans[std::size_t(x)];
        for (int i = 0; i < span.count; ++i) total[std::size_t(span.first + i)] += taps.at(x)[i];
    }
    for (const double weight : total) EXPECT_NEAR(weight, double(outputs) / inputs, 1e-5);
}

const std::pair<int, int> kShrinking[] = {{1, 1}, {7, 3}, {4000, 320}, {1001, 1000}, {5, 5}, {9973, 1}};
const std::pair<int, int> kGrowing[] = {{1, 9}, {3, 10}};
INSTANTIATE_TEST_SUITE_P(Shrinking, TapsOfAnyScale, testing::ValuesIn(kShrinking));
INSTANTIATE_TEST_SUITE_P(Growing, TapsOfAnyScale, testing::ValuesIn(kGrowing));
INSTANTIATE_TEST_SUITE_P(Shrinking, TapsThatShrink, testing::ValuesIn(kShrinking));

TEST(Resample, ShrinksToTheMeanOfWhatEachPixelCovers) {
    Image image(Size{3, 1}, PixelFormat::rgba8);
    const std::uint8_t pixels[12] = {0, 0, 0, 255, 90, 90, 90, 255, 255, 255, 255, 255};
    std::copy_n(pixels, 12, image.row(0));
    const Planes planes = resampleToPlanes(image.view(), {2, 1});
    EXPECT_NEAR(planes.row(0)[0] * 255, (0 + 45) / 1.5, 0.01);
    EXPECT_NEAR(planes.row(0)[3] * 255, (45 + 255) / 1.5, 0.01);
}

TEST(Resample, ReadsBgrAndGreyAsRgb) {
    Image bgr(Size{1, 1}, PixelFormat::bgr8);
    const std::uint8_t pixel[3] = {10, 20, 30};
    std::copy_n(pixel, 3, bgr.row(0));
    const Image rgba = resampleToImage(bgr.view(), {1, 1});
    EXPECT_EQ(rgba.row(0)[0], 30);
    EXPECT_EQ(rgba.row(0)[2], 10);
    EXPECT_EQ(rgba.row(0)[3], 255);
    Image grey(Size{1, 1}, PixelFormat::gray8);
    grey.row(0)[0] = 77;
    EXPECT_EQ(resampleToImage(grey.view(), {1, 1}).row(0)[1], 77);
}

TEST(Resample, GivesTransparentPixelsNoSayInTheColour) {
    Image image = filled({2, 1}, {200, 0, 0, 255});
    const std::uint8_t invisible[4] = {0, 255, 0, 0};
    std::copy_n(invisible, 4, image.row(0) + 4);
    const Image mean = resampleToImage(image.view(), {1, 1});
    EXPECT_EQ(mean.row(0)[0], 200);
    EXPECT_EQ(mean.row(0)[1], 0);
    EXPECT_EQ(mean.row(0)[3], 128);
    EXPECT_NEAR(resampleToPlanes(image.view(), {1, 1}).row(0)[1], 0.5, 1e-3);  // the network sees white through it
}

TEST(Resample, LeavesAnImageOfTheSameSizeAlone) {
    Image image(Size{17, 5}, PixelFormat::rgba8);
    for (std::size_t i = 0; i < image.bytes(); ++i) image.row(0)[i] = std::uint8_t(i % 4 == 3 ? 255 : i * 31);
    const Image same = resampleToImage(image.view(), image.size());
    EXPECT_TRUE(std::equal(image.row(0), image.row(0) + image.bytes(), same.row(0)));
}

TEST(LayInto, FillCoversFitShowsAllStretchBends) {
    // Left half red, right half blue, 2:1, laid into a square.
    Image wide = filled({40, 20}, {255, 0, 0, 255});
    for (int y = 0; y < 20; ++y) {
        for (int x = 20; x < 40; ++x) {
            const std::uint8_t blue[4] = {0, 0, 255, 255};
            std::copy_n(blue, 4, wide.row(y) + 4 * x);
        }
    }
    const Rgb green{0, 255, 0};
    const auto at = [](const Image& image, int x, int y) {
        const std::uint8_t* p = image.row(y) + 4 * x;
        return p[0] > 128 ? 'r' : p[1] > 128 ? 'g' : 'b';
    };
    const Image fill = layInto(wide.view(), {20, 20}, Placement::fill, green);
    EXPECT_EQ(at(fill, 0, 0), 'r');
    EXPECT_EQ(at(fill, 19, 19), 'b');
    const Image fit = layInto(wide.view(), {20, 20}, Placement::fit, green);
    EXPECT_EQ(at(fit, 0, 0), 'g');
    EXPECT_EQ(at(fit, 0, 10), 'r');
    EXPECT_EQ(at(fit, 19, 10), 'b');
    EXPECT_EQ(at(fit, 10, 19), 'g');
    const Image stretch = layInto(wide.view(), {20, 20}, Placement::stretch, green);
    EXPECT_EQ(at(stretch, 0, 0), 'r');
    EXPECT_EQ(at(stretch, 19, 0), 'b');
}

TEST(LayOut, PutsWhatIsLongerOrShorterThanTheFrameWhereItIsToLie) {
    const Size wide{400, 100}, tall{100, 400}, frame{200, 200};
    // Where the seen part begins, and where in the frame it lies.
    const auto at = [&](Size picture, Placement placement, float position) {
        const Layout layout = layOut(picture, frame, placement, position);
        return std::array{layout.seenX, layout.seenY, layout.left, layout.top};
    };
    using Crop = std::array<int, 4>;
    EXPECT_EQ(at(wide, Placement::fill, 0), (Crop{0, 0, 0, 0}));
    EXPECT_EQ(at(wide, Placement::fill, 0.5F), (Crop{150, 0, 0, 0}));
    EXPECT_EQ(at(wide, Placement::fill, 1), (Crop{300, 0, 0, 0}));
    EXPECT_EQ(at(tall, Placement::fill, 1), (Crop{0, 300, 0, 0}));
    EXPECT_EQ(at(wide, Placement::fit, 0), (Crop{0, 0, 0, 0}));
    EXPECT_EQ(at(wide, Placement::fit, 1), (Crop{0, 0, 0, 150}));
    EXPECT_EQ(at(tall, Placement::fit, 0.5F), (Crop{0, 0, 75, 0}));
    EXPECT_EQ(at(tall, Placement::fit, 7), (Crop{0, 0, 150, 0})) << "the end is the end";
    EXPECT_EQ(at(tall, Placement::fit, std::nanf("")), (Crop{0, 0, 0, 0}));
}

TEST(LayInto, TakesExtremeShapes) {
    for (const Size picture : {Size{1, 1}, Size{5000, 1}, Size{1, 5000}}) {
        const Image image = filled(picture, {9, 9, 9, 255});
        for (const Placement placement : {Placement::fill, Placement::fit, Placement::stretch}) {
            EXPECT_EQ(layInto(image.view(), {64, 48}, placement, {}).size(), (Size{64, 48}));
        }
    }
}

TEST(ShrunkTo, KeepsTheShapeAndNeverGrows) {
    EXPECT_EQ(shrunkTo({4000, 3000}, 1024), (Size{1024, 768}));
    EXPECT_EQ(shrunkTo({100, 50}, 1024), (Size{100, 50}));
    EXPECT_EQ(shrunkTo({10000, 1}, 1024), (Size{1024, 1}));
}

}  // namespace
}  // namespace matte
