// SPDX-License-Identifier: Apache-2.0
// The matte at full resolution and the colours at its edge, on a scene whose truth is known.
#include <cmath>

#include <gtest/gtest.h>

#include "inference/matting/box_filter.h"
#include "inference/matting/guided_filter.h"
#include "inference/matting/resample.h"
#include "tests/support/pictures/one_picture.h"
#include "tests/support/pictures/scene.h"

namespace matte {
namespace {

using namespace test;

double meanDifference(const Planes& a, const Planes& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.values.size(); ++i) sum += std::abs(double(a.values[i]) - b.values[i]);
    return sum / double(a.values.size());
}

class Refined : public testing::Test {
protected:
    const test::Scene scene_ = test::makeScene({320, 240});
    const Planes guide_ = resampleToPlanes(scene_.photo.view(), {320, 240});
    const Planes linear_ = toLinear(guide_);
    Planes guided_ = Planes({320, 240}, guided::kChannels);
};

TEST(BoxMeans, IsTheMeanOfTheWindowCutAtTheBorders) {
    Planes planes({7, 5}, 2);
    for (std::size_t i = 0; i < planes.values.size(); ++i) planes.values[i] = float(i * i % 17);
    const Planes before = planes;
    Planes across;
    boxMeans(planes, 2, 1, across);
    for (int y = 0; y < 5; ++y) {
        for (int x = 0; x < 7; ++x) {
            for (int c = 0; c < 2; ++c) {
                double sum = 0;
                int count = 0;
                for (int j = std::max(0, y - 2); j <= std::min(4, y + 2); ++j) {
                    for (int i = std::max(0, x - 2); i <= std::min(6, x + 2); ++i, ++count) {
                        sum += before.row(j)[2 * i + c];
                    }
                }
                EXPECT_NEAR(planes.row(y)[2 * x + c], sum / count, 1e-4);
            }
        }
    }
}

TEST(BoxMeans, TakesAWindowLargerThanThePicture) {
    Planes planes({3, 2}, 1);
    planes.values = {1, 2, 3, 4, 5, 6};
    Planes across;
    boxMeans(planes, 50, 1, across);
    for (const float value : planes.values) EXPECT_NEAR(value, 3.5, 1e-5);
}

TEST_F(Refined, AlphaFollowsThePictureFarCloserThanTheCoarseMatte) {
    fitGuidedFilter(guide_, scene_.coarse, guided_);
    const double refined = meanDifference(scene_.alpha, evaluateAlpha(guide_, guided_));
    const double enlarged = meanDifference(scene_.alpha, resamplePlanes(scene_.coarse, guide_.size));
    std::printf("mean error of alpha: enlarged %.4f, refined %.4f\n", enlarged, refined);
    EXPECT_LT(refined, 0.65 * enlarged);
}

TEST_F(Refined, AMatteOfOneSideOnlyStaysSo) {
    for (const float side : {0.0F, 1.0F}) {
        Planes flat({40, 30}, 1);
        std::ranges::fill(flat.values, side);
        fitGuidedFilter(guide_, flat, guided_);
        for (const float alpha : evaluateAlpha(guide_, guided_).values) EXPECT_NEAR(alpha, side, 1e-3);
    }
}

TEST_F(Refined, AFlatPictureKeepsTheCoarseMatte) {
    Planes grey({320, 240}, 3);
    std::ranges::fill(grey.values, 0.5F);
    fitGuidedFilter(grey, scene_.coarse, guided_);
    const Planes enlarged = resamplePlanes(scene_.coarse, grey.size);
    EXPECT_LT(meanDifference(enlarged, evaluateAlpha(grey, guided_)), 0.02);
}

TEST_F(Refined, BothSidesColoursAreFoundAtTheEdge) {
    estimateColors(linear_, scene_.alpha, guided_);
    double foreground = 0, mixed = 0;
    int count = 0;
    for (std::size_t i = 0; i < scene_.alpha.values.size(); ++i) {
        const float alpha = scene_.alpha.values[i];
        if (alpha < 0.1F || alpha > 0.9F) continue;
        ++count;
        for (std::size_t c = 0; c < 3; ++c) {
            const float truth = scene_.person.values[i * 3 + c];
            foreground += std::abs(guided_.values[i * guided::kChannels + guided::kForeground + c] - truth);
            mixed += std::abs(linear_.values[i * 3 + c] - truth);
        }
    }
    ASSERT_GT(count, 500);
    std::printf("error of the person's colour at the edge: as seen %.4f, estimated %.4f\n", mixed / count,
                foreground / count);
    EXPECT_LT(foreground, 0.05 * mixed);
}

/// Dark hair, soft over 24 pixels, before a room of which `light(x, y)` is the light; 320x240, linear light.
template <typename Light>
struct Hair {
    explicit Hair(const Light& light) : linear({320, 240}, 3), alpha({320, 240}, 1) {
        for (int y = 0; y < 240; ++y) {
            for (int x = 0; x < 320; ++x) {
                const float a = clampUnit((80 - std::hypot(float(x) - 160, float(y) - 150)) / 24);
                alpha.row(y)[x] = a;
                for (int c = 0; c < 3; ++c) linear.row(y)[3 * x + c] = mix(light(x, y), kColor[c], a);
            }
        }
    }
    /// Mean error of the colour that the composite shows the hair in, of each channel, times alpha as it is shown.
    [[nodiscard]] double error() const {
        Planes guided({320, 240}, guided::kChannels);
        estimateColors(linear, alpha, guided);
        double sum = 0;
        int count = 0;
        for (std::size_t i = 0; i < alpha.values.size(); ++i) {
            const float a = alpha.values[i], *sides = &guided.values[i * guided::kChannels + guided::kForeground];
            if (a < 0.05F || a > 0.95F) continue;
            for (std::size_t c = 0; c < 3; ++c, ++count) {
                const float shown = foregroundColor(linear.values[3 * i + c], a, sides[c], sides[3 + c]);
                sum += a * std::abs(shown - kColor[c]);
            }
        }
        return sum / count;
    }
    static constexpr float kColor[3] = {0.03F, 0.02F, 0.015F};
    Planes linear, alpha;
};

TEST(DarkHair, HasNoLightRimBeforeABrightRoomOrAWindowOrStripes) {
    const double even = Hair([](int, int) { return 0.9F; }).error();
    const double window = Hair([](int x, int y) { return x > 60 && x < 260 && y < 150 ? 0.9F : 0.1F; }).error();
    const double shelves = Hair([](int x, int y) { return 0.45F + 0.4F * std::sin(0.15F * float(x + y)); }).error();
    std::printf("light on dark hair: bright room %.4f, window %.4f, shelves %.4f\n", even, window, shelves);
    EXPECT_LT(even, 0.012);
    EXPECT_LT(window, 0.03);
    EXPECT_LT(shelves, 0.03);
}

TEST_F(Refined, TheBlurredRoomHoldsNothingOfThePerson) {
    estimateColors(linear_, scene_.alpha, guided_);
    blurBackground(linear_, scene_.alpha, 12, guided_);
    // The room has little red and the person much: behind the person's middle the room's red must stand.
    const float* behind = guided_.row(100) + 160 * guided::kChannels + guided::kBlurred;
    EXPECT_NEAR(behind[0], 0.05, 0.02);
    EXPECT_GT(behind[1], 0.4);
}

TEST_F(Refined, TheBlurredRoomHoldsNothingOfAPersonWhoIsNotWhollySureEither) {
    Planes alpha = scene_.alpha;
    for (float& value : alpha.values) value *= 0.9F;
    estimateColors(linear_, alpha, guided_);
    blurBackground(linear_, alpha, 12, guided_);
    for (const int y : {60, 100, 160, 230}) {
        const float* behind = guided_.row(y) + 160 * guided::kChannels + guided::kBlurred;
        EXPECT_NEAR(behind[0], 0.05, 0.03) << "the person's is 0.35 and more, row " << y;
    }
}

TEST_F(Refined, AOnePixelPictureWorks) {
    Planes guided({1, 1}, guided::kChannels), guide({1, 1}, 3), alpha({16, 16}, 1);
    std::ranges::fill(alpha.values, 0.75F);
    fitGuidedFilter(guide, alpha, guided);
    EXPECT_NEAR(evaluateAlpha(guide, guided).values[0], 0.75, 1e-4);
    estimateColors(guide, alpha = evaluateAlpha(guide, guided), guided);
    blurBackground(guide, alpha, 1, guided);
    for (const float value : guided.values) EXPECT_TRUE(std::isfinite(value));
}

}  // namespace
}  // namespace matte
