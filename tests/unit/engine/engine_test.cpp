// SPDX-License-Identifier: Apache-2.0
// The CPU engine as a whole: from a photo to a composite, and what it does at the borders of what it is given.
#include <set>

#include <gtest/gtest.h>

#include "inference/backends/create_engine.h"
#include "inference/core/error.h"
#include "inference/engine/engine.h"
#include "tests/support/engines/cpu_engine.h"
#include "tests/support/files/model_file.h"
#include "tests/support/pictures/scene.h"

namespace matte {
namespace {

using test::tinyEngine;
using test::tinyNetwork;

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
    const auto engine = tinyEngine();
    const auto cutout = engine->cutOut(photo({96, 64}));
    EXPECT_EQ(names(cutout->times()),
              (std::set<std::string>{"prepare", "preprocess", "network", "refine", "foreground"}));
    const Output output = engine->composite(*cutout, {}, {96, 64});
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

TEST(Engine, ACutoutOfOneThatIsGoneIsCompositedByAnother) {
    std::shared_ptr<Cutout> cutout = tinyEngine()->cutOut(photo({32, 32}));
    EXPECT_EQ(tinyEngine()->composite(*cutout, {}, {32, 32}).picture->image()->size(), (Size{32, 32}));
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
