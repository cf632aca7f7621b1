// SPDX-License-Identifier: Apache-2.0
// Live frames through the CPU engine: every camera format, what is remembered, where the person stands, what is told of
// the layers, and nobody shown when the network fails.
#include <set>

#include <gtest/gtest.h>

#include "inference/core/error.h"
#include "inference/core/synthetic_person.h"
#include "inference/engine/engine.h"
#include "inference/media/frame_convert.h"
#include "tests/support/engines/cpu_engine.h"
#include "tests/support/files/model_file.h"

namespace matte {
namespace {

constexpr Size kSize{192, 108};

using test::tinyEngine;

std::shared_ptr<const Image> person(std::uint64_t number, PixelFormat format = PixelFormat::bgr8) {
    static const SyntheticPerson drawn(kSize, 32);
    Image bgr(kSize, PixelFormat::bgr8);
    drawn.drawFrame(number, bgr);
    if (format == PixelFormat::bgr8) return std::make_shared<Image>(std::move(bgr));
    auto image = std::make_shared<Image>(kSize, format);
    if (format == PixelFormat::rgba8) {
        for (int y = 0; y < kSize.height; ++y) {
            for (int x = 0; x < kSize.width; ++x) {
                for (int c = 0; c < 3; ++c) image->row(y)[4 * x + c] = bgr.row(y)[3 * x + 2 - c];
                image->row(y)[4 * x + 3] = 255;
            }
        }
    } else {
        bgrToYuv(bgr.view(), *image);
    }
    return image;
}

Frame frameOf(std::shared_ptr<const Image> image, std::uint64_t number = 0) {
    Frame frame;
    frame.image = std::move(image);
    frame.number = number;
    frame.captured = std::chrono::steady_clock::now();
    return frame;
}

Output show(Engine& engine, const Frame& frame, const CompositeParams& params = {}) {
    engine.submit(frame, params);
    return engine.take();
}

std::set<std::string> names(const StageTimes& times) {
    std::set<std::string> result;
    for (const StageTime& time : times) result.insert(stageName(time.stage));
    return result;
}

double difference(const Image& a, const Image& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.bytes(); ++i) sum += std::abs(int(a.row(0)[i]) - int(b.row(0)[i]));
    return sum / double(a.bytes());
}

CompositeParams over(const char* background) {
    CompositeParams params;
    params.background = parseBackground(background);
    return params;
}

TEST(CpuLive, EachStageIsTimed) {
    const auto engine = tinyEngine();
    const Frame frame = frameOf(person(3), 41);
    const Output output = show(*engine, frame);
    const std::set<std::string> always{"preprocess", "network",    "component filter", "temporal filter",
                                       "refine",     "foreground", "composite"};
    std::set<std::string> first = always;
    first.insert({"prepare", "blur"});
    EXPECT_EQ(names(output.times), first);
    CompositeParams lit = over("color:#ffffff");
    lit.lightWrap = 0.5F;
    std::set<std::string> withLight = always;
    withLight.insert("wrap");
    EXPECT_EQ(names(show(*engine, frame, lit).times), withLight);
}

std::unique_ptr<Engine> engineWithSides(const std::string& live, const std::string& photo) {
    return test::cpuEngine(test::tinyNetwork({{"longest_side", live}, {"photo_side", photo}}), {});
}

TEST(CpuLive, AFrameAndAPhotoHaveInputsOfTheirOwn) {
    const auto engine = engineWithSides("64", "128");
    const auto ends = [&](const std::string& shape) { return engine->layers().front().shape.ends_with(shape); };
    show(*engine, frameOf(person(0)));
    EXPECT_TRUE(ends("64x36")) << engine->layers().front().shape;
    engine->cutOut(person(0, PixelFormat::rgba8));
    EXPECT_TRUE(ends("128x72")) << engine->layers().front().shape;
    show(*engine, frameOf(person(1), 1));
    EXPECT_TRUE(ends("64x36")) << engine->layers().front().shape;
    EXPECT_TRUE(engine->info().fineDetail);
    CompositeParams fine;
    fine.fineDetail = true;
    show(*engine, frameOf(person(2), 2), fine);
    EXPECT_TRUE(ends("128x72")) << engine->layers().front().shape;
    show(*engine, frameOf(person(3), 3));
    EXPECT_TRUE(ends("64x36")) << engine->layers().front().shape;
}

TEST(CpuLive, FineDetailIsOnlyHadWhereAPhotoIsLarger) {
    EXPECT_FALSE(tinyEngine()->info().fineDetail) << "the input was given";
    EXPECT_FALSE(engineWithSides("64", "64")->info().fineDetail);
    const auto larger = engineWithSides("128", "64");
    EXPECT_FALSE(larger->info().fineDetail);
    CompositeParams fine;
    fine.fineDetail = true;
    show(*larger, frameOf(person(0)), fine);
    EXPECT_TRUE(larger->layers().front().shape.ends_with("128x72")) << larger->layers().front().shape;
}

TEST(CpuLive, EveryCameraFormatLooksTheSame) {
    CompositeParams params = over("color:#204060");
    const auto expected = show(*tinyEngine(), frameOf(person(0, PixelFormat::rgba8)), params).picture->image();
    const auto bgr = show(*tinyEngine(), frameOf(person(0)), params).picture->image();
    EXPECT_EQ(difference(*expected, *bgr), 0);
    for (const PixelFormat format : {PixelFormat::nv12, PixelFormat::yuyv}) {
        const auto found = show(*tinyEngine(), frameOf(person(0, format)), params).picture->image();
        EXPECT_LT(difference(*expected, *found), 4) << "the colours' own resolution is halved";
    }
    EXPECT_THROW(show(*tinyEngine(), frameOf(std::make_shared<Image>(kSize, PixelFormat::gray8))), Error);
}

TEST(CpuLive, AStillSceneSettlesAndResetBeginsAnew) {
    const auto engine = tinyEngine();
    CompositeParams off = over("color:#0000ff");
    off.temporalSmoothing = 0;
    off.removeSmallRegions = false;
    CompositeParams smoothed = off;
    smoothed.temporalSmoothing = 1;
    const auto alone = show(*engine, frameOf(person(5)), off).picture->image();
    engine->reset();
    const auto first = show(*engine, frameOf(person(5)), smoothed).picture->image();
    EXPECT_EQ(difference(*alone, *first), 0) << "the first frame stays as it is";
    (void)show(*engine, frameOf(person(20)), smoothed);
    engine->reset();
    EXPECT_EQ(difference(*alone, *show(*engine, frameOf(person(5)), smoothed).picture->image()), 0);
}

TEST(CpuLive, TheLayersTakeNoLongerThanTheNetwork) {
    const auto engine = tinyEngine();
    engine->timeLayers(true);
    const Output timed = show(*engine, frameOf(person(1)));
    ASSERT_EQ(timed.layerMs.size(), 13U);  // 3 levels: 2 + 2 + 2 down, twice an up-sampling and 2, and the head
    double sum = 0, network = 0;
    for (const float ms : timed.layerMs) {
        EXPECT_GT(ms, 0);
        sum += double(ms);
    }
    for (const StageTime& time : timed.times) network += time.stage == Stage::network ? time.ms : 0;
    EXPECT_LE(sum, network);
}

TEST(CpuLive, NobodyIsShownWhenTheNetworkFails) {
    const auto file = test::encodeSafetensors(test::brokenInTheDark({4, 8, 16}, 1));
    const auto engine = test::cpuEngine(UNet::load(Safetensors::parse(file, "broken")), {.networkLongestSide = 64});
    auto black = std::make_shared<Image>(kSize, PixelFormat::bgr8);
    std::fill_n(black->row(0), black->bytes(), std::uint8_t(0));
    const Output output = show(*engine, frameOf(black), over("color:#00b140"));
    EXPECT_EQ(output.matteFault, MatteFault::notFinite);
    const auto shown = output.picture->image();
    for (int y = 0; y < kSize.height; ++y) {
        for (int x = 0; x < kSize.width; ++x) {
            const std::uint8_t* pixel = shown->row(y) + 4 * x;
            ASSERT_TRUE(pixel[0] == 0 && pixel[1] == 0xB1 && pixel[2] == 0x40) << x << ", " << y;
        }
    }
}

TEST(CpuLive, AMirroredPersonStandsBeforeTheSamePicture) {
    auto plate = std::make_shared<Image>(kSize, PixelFormat::rgba8);
    for (std::size_t i = 0; i < plate->bytes(); ++i) plate->row(0)[i] = i % 4 == 3 ? 255 : std::uint8_t(i / 4 % 192);
    CompositeParams params, mirrored;
    params.background.kind = Background::Kind::image;
    params.background.image = plate;
    params.removeSmallRegions = false;
    params.threshold = 0.01F;  // the untrained network's matte is near a half everywhere: all of it is shown
    params.softness = 0;
    mirrored = params;
    mirrored.transform.mirrored = true;
    const auto seen = show(*tinyEngine(), frameOf(person(9)), params).picture->image();
    const auto turned = show(*tinyEngine(), frameOf(person(9)), mirrored).picture->image();
    double same = 0;
    for (int y = 0; y < kSize.height; ++y) {
        for (int x = 0; x < kSize.width; ++x) {
            same +=
                std::equal(seen->row(y) + 4 * x, seen->row(y) + 4 * x + 4, turned->row(y) + 4 * (kSize.width - 1 - x));
        }
    }
    EXPECT_GT(same / double(kSize.pixels()), 0.99);
    CompositeParams nobody = mirrored;
    nobody.threshold = 1;
    const auto alone = show(*tinyEngine(), frameOf(person(9)), nobody).picture->image();
    EXPECT_LT(difference(*alone, *plate), 0.01) << "the picture behind is not mirrored";
}

}  // namespace
}  // namespace matte
