// SPDX-License-Identifier: Apache-2.0
// The last step: edges, colours and backgrounds, on a scene whose truth is known.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "inference/core/error.h"
#include "inference/core/pixel_math.h"
#include "inference/matting/composite.h"
#include "inference/matting/guided_filter.h"
#include "inference/matting/resample.h"
#include "inference/matting/transfer.h"
#include "inference/matting/trimap.h"
#include "tests/support/pictures/one_picture.h"
#include "tests/support/pictures/scene.h"

namespace matte {
namespace {

using namespace test;

CompositeParams paramsOver(const char* background) {
    CompositeParams params;
    params.background = parseBackground(background);
    params.softness = 1;
    return params;
}

class Composite : public testing::Test {
protected:
    Composite() {
        const Planes guide = resampleToPlanes(scene_.photo.view(), scene_.alpha.size);
        fitGuidedFilter(guide, scene_.alpha, guided_);
        // The truth itself as alpha (coefficients 0, 0, 0, alpha), so that only the composite is under test.
        for (std::size_t i = 0; i < scene_.alpha.values.size(); ++i) {
            float* guided = &guided_.values[i * guided::kChannels];
            guided[0] = guided[1] = guided[2] = 0;
            guided[3] = scene_.alpha.values[i];
        }
        const Planes linear = toLinear(guide);
        estimateColors(linear, scene_.alpha, guided_);
        blurBackground(linear, scene_.alpha, 8, guided_);
    }
    [[nodiscard]] Image over(const CompositeParams& params, const Image* plate = nullptr) const {
        return compositeOver(scene_.photo.view(), guided_, params, plate, {});
    }

    const test::Scene scene_ = test::makeScene({320, 240});
    Planes guided_ = Planes({320, 240}, guided::kChannels);
};

TEST(PixelMath, TransferFunctionsAreInverses) {
    for (int i = 0; i <= 255; ++i) {
        EXPECT_NEAR(linearToSrgb(srgbToLinear(float(i) / 255)) * 255, i, 1e-3);
    }
    EXPECT_NEAR(srgbToLinear(0.5F), 0.21404, 1e-4);
}

TEST(PixelMath, EveryByteComesBackFromLinearLight) {
    for (int i = 0; i <= 255; ++i) EXPECT_EQ(transfer().encode(transfer().linear[std::size_t(i)]), i);
}

TEST(PixelMath, AnEdgeKeepsTheEndsWhereverItsThresholdIs) {
    for (float threshold = 0; threshold <= 1; threshold += 0.125F) {
        for (float softness = 0; softness <= 1; softness += 0.125F) {
            const Edge edge = edgeOf(threshold, softness);
            EXPECT_LT(edge.low, edge.high);
            EXPECT_EQ(shapeAlpha(0, edge), 0);
            EXPECT_EQ(shapeAlpha(1, edge), 1);
        }
    }
    const Edge whole = edgeOf(0.5F, 1);
    EXPECT_NEAR(shapeAlpha(0.3F, whole), 0.3, kCertain);
    EXPECT_EQ(shapeAlpha(kCertain, whole), 0);
    EXPECT_EQ(shapeAlpha(1 - kCertain, whole), 1);
    EXPECT_GT(shapeAlpha(0.5F, edgeOf(0.3F, 0.5F)), 0.5F) << "a lower threshold keeps more of the person";
}

TEST_F(Composite, EverythingOfThePersonStaysAsItWasSeen) {
    const Image out = over(paramsOver("color:#0000ff"));
    for (int y = 0; y < 240; ++y) {
        for (int x = 0; x < 320; ++x) {
            if (scene_.alpha.row(y)[x] < 1) continue;
            EXPECT_TRUE(std::equal(out.row(y) + 4 * x, out.row(y) + 4 * x + 4, scene_.photo.row(y) + 4 * x));
        }
    }
}

TEST_F(Composite, NothingOfTheRoomIsLeft) {
    const Image out = over(paramsOver("color:#0000ff"));
    const std::uint8_t* corner = out.row(2) + 4 * 3;
    EXPECT_EQ(corner[0], 0);
    EXPECT_EQ(corner[1], 0);
    EXPECT_EQ(corner[2], 255);
    EXPECT_EQ(corner[3], 255);
}

TEST_F(Composite, DecontaminationRemovesTheHalo) {
    // Green of the room at the edge, compared with the true person over the new colour.
    const auto halo = [&](bool decontaminate) {
        CompositeParams params = paramsOver("color:#202020");
        params.decontaminate = decontaminate;
        const Image out = over(params);
        const float behind = srgbToLinear(32.0F / 255);
        double error = 0;
        int count = 0;
        for (int y = 0; y < 240; ++y) {
            for (int x = 0; x < 320; ++x) {
                const float alpha = scene_.alpha.row(y)[x];
                if (alpha < 0.1F || alpha > 0.9F) continue;
                const float truth = linearToSrgb(mix(behind, scene_.person.row(y)[3 * x + 1], alpha)) * 255;
                error += std::abs(float(out.row(y)[4 * x + 1]) - truth);
                ++count;
            }
        }
        return error / count;
    };
    std::printf("error of green at the edge, of 255: plain %.1f, decontaminated %.1f\n", halo(false), halo(true));
    EXPECT_LT(halo(true), 0.05 * halo(false));
}

TEST(CompositePixel, HardlyDifferentMattesGiveHardlyDifferentColours) {
    // Green pixels between a red person and a blue room, far from either side's colour: alpha grows from 0 to 1.
    const Size row{20001, 1};
    Image pixels(row, PixelFormat::rgba8);
    Planes guided(row, guided::kChannels);
    for (int x = 0; x < row.width; ++x) {
        for (int c = 0; c < 4; ++c) pixels.row(0)[4 * x + c] = c == 1 || c == 3 ? 255 : 0;
        float* point = guided.row(0) + std::ptrdiff_t(x) * guided::kChannels;
        point[3] = float(x) / float(row.width - 1);
        point[guided::kForeground] = point[guided::kBackground + 2] = 1;
    }
    for (const float softness : {0.3F, 0.6F, 1.0F}) {
        CompositeParams params = paramsOver("color:#000000");
        params.softness = softness;
        const Image out = compositeOver(pixels.view(), guided, params, nullptr, {});
        int largest = 0;
        for (int i = 4; i < 4 * row.width; ++i) {
            largest = std::max(largest, std::abs(int(out.row(0)[i]) - int(out.row(0)[i - 4])));
        }
        EXPECT_LE(largest, 3) << "softness " << softness << ", steps of 5e-5 of alpha";
    }
}

/// Blocks of coefficients, of foreground, background or between, whose colours explain some of alpha, and a picture of
/// noise over it.
class Blocks : public testing::Test {
protected:
    Blocks() {
        for (int y = 0; y < guided_.size.height; ++y) {
            for (int x = 0; x < guided_.size.width; ++x) {
                float* point = guided_.row(y) + std::ptrdiff_t(x) * guided::kChannels;
                const int block = x / 8 + y / 8 * 5;
                for (int c = 0; c < 3; ++c) point[c] = block % 4 == 3 ? 0.0F : 0.2F * uniform() - 0.1F;
                point[3] = block % 4 == 0 ? -0.2F : block % 4 == 1 ? 1.2F : block % 4 == 2 ? 0.5F : float(x % 2);
                for (int c = guided::kBlurred; c < guided::kWrap; ++c) point[c] = uniform();
                for (int c = guided::kWrap; c < guided::kChannels; ++c) point[c] = block % 3 == 0 ? 0.1F : 0.0F;
            }
        }
        for (Image* image : {&picture_, &plate_}) {
            for (std::size_t i = 0; i < image->bytes(); ++i) {
                image->row(0)[i] = i % 4 == 3 ? 255 : std::uint8_t(255 * uniform());
            }
        }
    }
    float uniform() { return float(random_() % 1024) / 1023; }

    /// A channel of the coefficients at a pixel.
    [[nodiscard]] float sample(int x, int y, int channel) const {
        const Size points = guided_.size, pixels = picture_.size();
        const auto at = [](int i, int of, int count) {
            return std::clamp((float(i) + 0.5F) * float(of) / float(count) - 0.5F, 0.0F, float(of - 1));
        };
        const float across = at(x, points.width, pixels.width), down = at(y, points.height, pixels.height);
        const int left = int(across), top = int(down);
        const int right = std::min(left + 1, points.width - 1), below = std::min(top + 1, points.height - 1);
        const auto value = [&](int px, int py) { return guided_.row(py)[px * guided::kChannels + channel]; };
        return mix(mix(value(left, top), value(left, below), down - float(top)),
                   mix(value(right, top), value(right, below), down - float(top)), across - float(left));
    }
    [[nodiscard]] float alpha(int x, int y) const {
        float sum = sample(x, y, 3);
        for (int c = 0; c < 3; ++c) sum += sample(x, y, c) * float(picture_.row(y)[4 * x + c]) / 255;
        return clampUnit(sum);
    }
    [[nodiscard]] bool lit(int x, int y) const { return sample(x, y, guided::kWrap) > 0; }
    void behind(const CompositeParams& params, int x, int y, std::uint8_t* out) const {
        const Background& background = params.background;
        const std::uint8_t color[3] = {background.color.r, background.color.g, background.color.b};
        const bool transparent = background.kind == Background::Kind::transparent;
        out[3] = transparent ? 0 : 255;
        for (int c = 0; c < 3; ++c) {
            if (background.kind == Background::Kind::blur) {
                out[c] = transfer().encode(sample(x, y, guided::kBlurred + c));
            } else if (background.kind == Background::Kind::image) {
                out[c] = plate_.row(y)[4 * x + c];
            } else {
                out[c] = transparent ? 0 : color[c];
            }
        }
    }
    /// Of the pixels that are wholly foreground or background; how many there are of each is counted.
    int worstDifference(const CompositeParams& params, int (&counts)[2]) const {
        const bool pictured = params.background.kind == Background::Kind::image;
        const Image out = compositeOver(picture_.view(), guided_, params, pictured ? &plate_ : nullptr, {});
        const Edge edge = edgeOf(params.threshold, params.softness);
        int worst = 0;
        for (int y = 0; y < picture_.size().height; ++y) {
            for (int x = 0; x < picture_.size().width; ++x) {
                const float found = alpha(x, y);
                std::uint8_t wanted[4];
                if (found == 0 || found < edge.low - 1e-5F) {
                    behind(params, x, y, wanted);
                    ++counts[0];
                } else if (found >= edge.high + 1e-5F && (params.lightWrap == 0 || !lit(x, y))) {
                    std::copy_n(picture_.row(y) + 4 * x, 4, wanted);
                    ++counts[1];
                } else {
                    continue;
                }
                for (int c = 0; c < 4; ++c) worst = std::max(worst, std::abs(out.row(y)[4 * x + c] - wanted[c]));
            }
        }
        return worst;
    }

    std::mt19937 random_{1};
    Planes guided_ = Planes({40, 31}, guided::kChannels);
    Image picture_ = Image(Size{133, 101}, PixelFormat::rgba8), plate_ = Image(Size{133, 101}, PixelFormat::rgba8);
};

TEST_F(Blocks, WhatIsWhollyOnOneSideIsNotMixed) {
    for (const char* background : {"blur:50", "color:#123456", "image:somewhere.png", "transparent"}) {
        for (const float softness : {0.0F, 0.6F, 0.9F}) {
            for (const float light : {0.0F, 0.5F}) {
                CompositeParams params = paramsOver(background);
                params.softness = softness;
                params.lightWrap = light;
                if (params.background.kind == Background::Kind::transparent && light > 0) continue;  // nothing shines
                int counts[2] = {};
                EXPECT_LE(worstDifference(params, counts), 1) << background << ", " << softness << ", " << light;
                EXPECT_GT(counts[0], 2000);
                EXPECT_GT(counts[1], 500);
            }
        }
    }
}

TEST_F(Blocks, ALabelIsSureOnlyWhereEveryColourHasIt) {
    Trimap trimap;
    const Edge edge = edgeOf(0.5F, 0.6F);
    trimap.find(guided_, edge, false);
    EXPECT_EQ(trimap.row(3)[3], TrimapLabel::background);
    EXPECT_EQ(trimap.row(3)[11], TrimapLabel::foreground);
    EXPECT_EQ(trimap.row(3)[7], TrimapLabel::unknown) << "between two blocks";
    EXPECT_EQ(trimap.row(3)[19], TrimapLabel::unknown);
    trimap.find(guided_, edge, true);
    EXPECT_EQ(trimap.row(3)[11], TrimapLabel::foreground) << "no light comes here";
    EXPECT_EQ(trimap.row(11)[3], TrimapLabel::foreground) << "nor here";
    EXPECT_EQ(trimap.row(11)[35], TrimapLabel::unknown) << "here it does";
    float* point = guided_.row(3) + std::ptrdiff_t(3) * guided::kChannels;
    point[0] = NAN;
    trimap.find(guided_, edge, false);
    EXPECT_EQ(trimap.row(3)[3], TrimapLabel::unknown) << "what is no number tells nothing";
}

TEST_F(Composite, MixesInLinearLight) {
    // Half white over black is 188 in sRGB, not 128.
    Planes guided({1, 1}, guided::kChannels);
    guided.values[3] = 0.5F;
    Image white(Size{1, 1}, PixelFormat::rgba8);
    std::fill_n(white.row(0), 4, std::uint8_t(255));
    CompositeParams params = paramsOver("color:#000000");
    params.decontaminate = false;
    EXPECT_EQ(compositeOver(white.view(), guided, params, nullptr, {}).row(0)[0], 188);
}

TEST_F(Composite, TransparentGivesStraightAlphaAndThePersonsColour) {
    const Image out = over(paramsOver("transparent"));
    for (int y = 0; y < 240; y += 3) {
        for (int x = 0; x < 320; x += 3) {
            const float alpha = scene_.alpha.row(y)[x];
            EXPECT_NEAR(out.row(y)[4 * x + 3], alpha * 255, 2);  // a level of kCertain and one of rounding
            if (alpha > 0) continue;
            EXPECT_EQ(out.row(y)[4 * x + 1], 0) << "the room's colour must not hide behind alpha 0";
        }
    }
}

TEST_F(Composite, APhotosOwnTransparencyIsKept) {
    test::Scene scene = test::makeScene({64, 64});
    for (int x = 0; x < 64; ++x) scene.photo.row(32)[4 * x + 3] = 0;
    Planes guided({64, 64}, guided::kChannels);
    for (std::size_t i = 0; i < 64 * 64; ++i) guided.values[i * guided::kChannels + 3] = 1;
    const Image out = compositeOver(scene.photo.view(), guided, paramsOver("color:#ff0000"), nullptr, {});
    EXPECT_EQ(out.row(32)[0], 255);
    EXPECT_EQ(out.row(32)[1], 0);
    EXPECT_EQ(renderMatte(scene.photo.view(), guided, {}).row(32)[5], 0);
    EXPECT_EQ(renderMatte(scene.photo.view(), guided, {}).row(31)[5], 255);
}

TEST_F(Composite, APictureStandsBehindThePerson) {
    Image plate(Size{320, 240}, PixelFormat::rgba8);
    for (int y = 0; y < 240; ++y) {
        for (int x = 0; x < 320; ++x) {
            const std::uint8_t pixel[4] = {std::uint8_t(x), std::uint8_t(y), 7, 255};
            std::copy_n(pixel, 4, plate.row(y) + 4 * x);
        }
    }
    const Image out = over(paramsOver("image:somewhere.png"), &plate);
    EXPECT_EQ(out.row(5)[4 * 9], 9);
    EXPECT_EQ(out.row(5)[4 * 9 + 1], 5);
}

TEST_F(Composite, BlurShowsTheRoomWithoutDetail) {
    const Image out = over(paramsOver("blur:50"));
    const std::uint8_t *photo = scene_.photo.row(10) + 4 * 20, *blurred = out.row(10) + 4 * 20;
    for (int c = 0; c < 3; ++c) EXPECT_NEAR(blurred[c], photo[c], 12);
}

TEST_F(Composite, AHardEdgeHasNothingBetween) {
    CompositeParams params;
    params.softness = 0;
    const Image matte = renderMatte(scene_.photo.view(), guided_, params);
    int between = 0;
    for (std::size_t i = 0; i < matte.bytes(); ++i) {
        const std::uint8_t value = matte.row(0)[i];
        between += value > 25 && value < 230;
    }
    EXPECT_LT(between, 60);
}

TEST_F(Composite, TakesBgrPicturesToo) {
    Image bgr(Size{320, 240}, PixelFormat::bgr8);
    for (int y = 0; y < 240; ++y) {
        for (int x = 0; x < 320; ++x) {
            for (int c = 0; c < 3; ++c) bgr.row(y)[3 * x + c] = scene_.photo.row(y)[4 * x + 2 - c];
        }
    }
    const CompositeParams params = paramsOver("color:#123456");
    const Image expected = over(params), out = compositeOver(bgr.view(), guided_, params, nullptr, {});
    EXPECT_TRUE(std::equal(out.row(0), out.row(0) + out.bytes(), expected.row(0)));
}

TEST_F(Composite, AMirroredPersonIsTheSamePixelsMirrored) {
    CompositeParams params = paramsOver("blur:50");
    const Image seen = over(params);
    params.transform.mirrored = true;
    const Image mirrored = over(params);
    int worst = 0;
    for (int y = 0; y < 240; ++y) {
        for (int x = 0; x < 320; ++x) {
            for (int c = 0; c < 4; ++c) {
                worst = std::max(worst, std::abs(seen.row(y)[4 * x + c] - mirrored.row(y)[4 * (319 - x) + c]));
            }
        }
    }
    EXPECT_LE(worst, 1) << "the blurred room goes along";
}

TEST_F(Composite, AMovedPersonLeavesTheBackgroundBehind) {
    CompositeParams params = paramsOver("color:#0000ff");
    params.transform.scale = 0.5F;
    params.transform.x = 0.25F;
    const Image out = over(params);
    const auto isBlue = [&](int x, int y) {
        const std::uint8_t* pixel = out.row(y) + 4 * x;
        return pixel[0] == 0 && pixel[1] == 0 && pixel[2] == 255;
    };
    // The face was at (160, 86): from the lower edge half as far, and a quarter of the frame to the right.
    const std::uint8_t *face = out.row(163) + 4 * 240, *before = scene_.photo.row(86) + 4 * 160;
    for (int c = 0; c < 3; ++c) EXPECT_NEAR(face[c], before[c], 3);
    EXPECT_TRUE(isBlue(60, 230)) << "nobody is left where they stood";
    EXPECT_TRUE(isBlue(240, 60));
}

TEST_F(Composite, TheBlurredRoomFillsTheFrameWhereverThePersonStands) {
    const auto empty = [this](bool mirrored) {
        CompositeParams params = paramsOver("blur:50");
        params.transform = {.mirrored = mirrored, .x = 1};  // nobody is in the picture
        return over(params);
    };
    const Image room = empty(false);
    CompositeParams params = paramsOver("blur:50");
    params.transform = {.scale = 0.5F, .x = 0.1F};
    const Image smaller = over(params);
    for (const auto& [x, y] : {std::pair(10, 10), {300, 60}, {20, 200}, {60, 230}}) {
        EXPECT_TRUE(std::equal(room.row(y) + 4 * x, room.row(y) + 4 * x + 4, smaller.row(y) + 4 * x)) << x << " " << y;
    }
    const Image mirrored = empty(true);
    for (int c = 0; c < 3; ++c) EXPECT_NEAR(room.row(100)[4 * 15 + c], mirrored.row(100)[4 * (319 - 15) + c], 1);
}

TEST_F(Composite, LightOfTheBackgroundFallsOnTheEdgeAlone) {
    CompositeParams params = paramsOver("color:#ffffff");
    const Image plain = over(params);
    params.lightWrap = 0.7F;
    wrapLight(scene_.alpha, params, nullptr, guided_);
    const Image lit = over(params);
    // The body's left edge at half height, and its middle.
    int edge = 0, darker = 0;
    for (int y = 0; y < 240; ++y) {
        for (int i = 0; i < 320 * 4; ++i) {
            edge += lit.row(y)[i] > plain.row(y)[i] + 2;
            darker += lit.row(y)[i] + 1 < plain.row(y)[i];
        }
    }
    EXPECT_GT(edge, 500);
    EXPECT_EQ(darker, 0);
    const std::uint8_t *middle = lit.row(200) + 4 * 160, *before = plain.row(200) + 4 * 160;
    EXPECT_TRUE(std::equal(middle, middle + 4, before)) << "deep inside nothing of it is seen";
    params.background = parseBackground("color:#000000");
    wrapLight(scene_.alpha, params, nullptr, guided_);
    const Image dark = over(params);
    params.lightWrap = 0;
    const Image off = over(params);
    EXPECT_TRUE(std::equal(dark.row(0), dark.row(0) + dark.bytes(), off.row(0))) << "black gives no light";
}

TEST(Wrapped, BrightensTowardWhite) {
    EXPECT_EQ(wrapped(0.3F, 0.5F, 0), 0.3F);
    EXPECT_EQ(wrapped(1, 0.5F, 1), 1);
    EXPECT_FLOAT_EQ(wrapped(0.2F, 0.5F, 1), 0.6F);
}

TEST_F(Composite, StopsWhenAsked) {
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(compositeOver(scene_.photo.view(), guided_, {}, nullptr, stop.get_token()), Cancelled);
}

}  // namespace
}  // namespace matte
