// SPDX-License-Identifier: Apache-2.0
// The CPU engine as a whole: from a photo to a composite, and what it does at the borders of what it is given.
#include <set>

#include <gtest/gtest.h>

#include "inference/backends/create_engine.h"
#include "inference/core/error.h"
#include "inference/engine/engine.h"
#include "tests/support/cpu_engine.h"
#include "tests/support/model_file.h"
#include "tests/support/scene.h"

namespace matte {
namespace {

UNet tinyNetwork() {
    return UNet::load(Safetensors::parse(test::encodeSafetensors(test::randomUNet({4, 8, 16}, 1)), "tiny"));
}

std::unique_ptr<Engine> cpuEngine() {
    return test::cpuEngine(tinyNetwork(), {.networkLongestSide = 64});
}

std::shared_ptr<const Image> photo(Size size) {
    return std::make_shared<Image>(test::makeScene(size).photo);
}

std::set<std::string> names(const StageTimes& times) {
    std::set<std::string> result;
    for (const StageTime& time : times) {
        EXPECT_GE(time.ms, 0);
        result.insert(stageName(time.stage));
    }
    return result;
}

TEST(Engine, CutsOutAndCompositesAndTimesEachStage) {
    const auto engine = cpuEngine();
    const auto cutout = engine->cutOut(photo({96, 64}));
    EXPECT_EQ(names(cutout->times()),
              (std::set<std::string>{"prepare", "preprocess", "network", "refine", "foreground"}));
    const Output output = engine->composite(*cutout, {}, {96, 64});
    EXPECT_EQ(output.picture->image()->size(), (Size{96, 64}));
    EXPECT_EQ(output.picture->image()->format(), PixelFormat::rgba8);
    EXPECT_EQ(names(output.times), (std::set<std::string>{"blur", "composite"}));
}

TEST(Engine, TheCpuRunsTheNetworkThatIsMeantForIt) {
    int loaded = 0;
    const auto deeper = [&loaded] {
        ++loaded;
        return UNet::load(Safetensors::parse(test::encodeSafetensors(test::randomUNet({4, 8, 16, 32}, 1)), "deeper"));
    };
    const auto layers = [](const EngineOptions& options) {
        const auto engine = createLiveEngines(tinyNetwork(), options).first;
        engine->submit({photo({96, 64}), 0, {}}, {});
        (void)engine->take();
        return engine->layers().size();
    };
    const EngineOptions usual{.kind = EngineKind::cpu, .networkLongestSide = 64};
    EngineOptions other = usual;
    other.cpuNetwork = deeper;
    EXPECT_GT(layers(other), layers(usual));
    EXPECT_EQ(loaded, 1);
}

TEST(Engine, TakesPicturesOfAnyShape) {
    const auto engine = cpuEngine();
    for (const Size size : {Size{1, 1}, Size{1, 300}, Size{301, 3}, Size{97, 61}}) {
        Image image(size, PixelFormat::rgba8);
        std::fill_n(image.row(0), image.bytes(), std::uint8_t(200));
        const auto cutout = engine->cutOut(std::make_shared<Image>(std::move(image)));
        for (const char* background : {"blur:3", "color:#00ff00", "transparent"}) {
            CompositeParams params;
            params.background = parseBackground(background);
            EXPECT_EQ(engine->composite(*cutout, params, size).picture->image()->size(), size);
        }
        EXPECT_EQ(engine->matte(*cutout, {}, size).format(), PixelFormat::gray8);
    }
}

TEST(Engine, RefusesAMatteThatIsNotFinite) {
    const auto engine = test::cpuEngine(
        UNet::load(Safetensors::parse(test::encodeSafetensors(test::brokenInTheDark({4, 8, 16}, 1)), "broken")),
        {.networkLongestSide = 64});
    Image black(Size{96, 64}, PixelFormat::bgr8);
    std::fill_n(black.row(0), black.bytes(), std::uint8_t(0));
    try {
        engine->cutOut(std::make_shared<Image>(std::move(black)));
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.category, ErrorCategory::model);
        EXPECT_NE(std::string(error.what()).find("choose another model"), std::string::npos) << error.what();
    }
}

TEST(Engine, APreviewLooksLikeTheWholePicture) {
    const auto engine = cpuEngine();
    const auto cutout = engine->cutOut(photo({320, 240}));
    CompositeParams params;
    params.background = parseBackground("color:#808080");
    const Output whole = engine->composite(*cutout, params, {320, 240}),
                 preview = engine->composite(*cutout, params, {80, 60});
    double difference = 0;
    for (int y = 0; y < 60; ++y) {
        for (int x = 0; x < 80; ++x) {
            for (int c = 0; c < 3; ++c) {
                double mean = 0;
                for (int i = 0; i < 16; ++i)
                    mean += whole.picture->image()->row(4 * y + i / 4)[4 * (4 * x + i % 4) + c] / 16.0;
                difference += std::abs(mean - preview.picture->image()->row(y)[4 * x + c]) / (80 * 60 * 3);
            }
        }
    }
    EXPECT_LT(difference, 3);
}

TEST(Engine, TheSameParamsGiveTheSamePictureAfterOthers) {
    const auto engine = cpuEngine();
    const auto cutout = engine->cutOut(photo({96, 64}));
    const auto pixels = [&](float strength) {
        CompositeParams params;
        params.background.blurStrength = strength;
        const Output output = engine->composite(*cutout, params, {96, 64});
        return std::vector<std::uint8_t>(output.picture->image()->row(0),
                                         output.picture->image()->row(0) + output.picture->image()->bytes());
    };
    const auto first = pixels(20);
    EXPECT_NE(first, pixels(90));
    EXPECT_EQ(first, pixels(20));
}

TEST(Engine, LaysABackgroundPictureBehind) {
    const auto engine = cpuEngine();
    const auto cutout = engine->cutOut(photo({96, 64}));
    Image red(Size{2, 2}, PixelFormat::rgba8);
    for (int i = 0; i < 4; ++i) {
        const std::uint8_t pixel[4] = {255, 0, 0, 255};
        std::copy_n(pixel, 4, red.row(0) + 4 * i);
    }
    CompositeParams params, plain;
    params.background.kind = Background::Kind::image;
    params.background.image = std::make_shared<Image>(std::move(red));
    plain.background = parseBackground("color:#ff0000");
    const Output picture = engine->composite(*cutout, params, {96, 64}),
                 color = engine->composite(*cutout, plain, {96, 64});
    const auto one = picture.picture->image(), other = color.picture->image();
    EXPECT_TRUE(std::equal(one->row(0), one->row(0) + one->bytes(), other->row(0)));
}

TEST(Engine, ACutoutMayOutliveItsEngine) {
    std::shared_ptr<Cutout> cutout = cpuEngine()->cutOut(photo({32, 32}));
    EXPECT_EQ(cutout->source()->size(), (Size{32, 32}));
    EXPECT_EQ(cpuEngine()->composite(*cutout, {}, {32, 32}).picture->image()->size(), (Size{32, 32}));
}

TEST(Engine, StopsWhenAsked) {
    const auto engine = cpuEngine();
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(engine->cutOut(photo({32, 32}), stop.get_token()), Cancelled);
    const auto cutout = engine->cutOut(photo({32, 32}));
    EXPECT_THROW(engine->composite(*cutout, {}, {32, 32}, stop.get_token()), Cancelled);
    EXPECT_EQ(engine->composite(*cutout, {}, {32, 32}).picture->image()->size(), (Size{32, 32}));
}

TEST(Engine, SaysWhatItIsAndWhy) {
    const EngineInfo info = createPhotoEngine(tinyNetwork(), {})->info();
    EXPECT_FALSE(info.name.empty());
    EXPECT_EQ(info.kind == EngineKind::cpu, !info.reason.empty()) << "the CPU is taken only for a reason";
}

TEST(Engine, CudaIsThereOrSaysWhyNot) {
    const std::string reason = createPhotoEngine(tinyNetwork(), {})->info().reason;
    try {
        EXPECT_EQ(createPhotoEngine(tinyNetwork(), {.kind = EngineKind::cuda})->info().kind, EngineKind::cuda);
        EXPECT_EQ(reason, "");
    } catch (const Error& error) {
        EXPECT_EQ(error.category, ErrorCategory::engine);
        EXPECT_EQ(error.what(), "The CUDA engine can't be used: " + reason + " Use --engine cpu or auto.");
    }
}

}  // namespace
}  // namespace matte
