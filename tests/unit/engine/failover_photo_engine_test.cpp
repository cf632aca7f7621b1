// SPDX-License-Identifier: Apache-2.0
// When the device of the first engine fails, the second goes on with the same picture: here with engines that are told
// when to fail.
#include <thread>

#include <gtest/gtest.h>

#include "inference/core/error.h"
#include "inference/engine/failover_photo_engine.h"
#include "tests/support/engines/device_engine.h"

namespace matte {
namespace {

using Script = test::DeviceScript;
using test::DeviceEngine;

std::unique_ptr<FailoverPhotoEngine> engineOf(Script& script) {
    return std::make_unique<FailoverPhotoEngine>(
        std::make_unique<DeviceEngine>(script, "gpu"),
        [&script](const std::string& reason) { return std::make_unique<DeviceEngine>(script, "cpu", reason); });
}

std::shared_ptr<const Image> photo() {
    return std::make_shared<Image>(Size{8, 4}, PixelFormat::rgba8);
}

using Calls = std::vector<std::string>;

TEST(FailoverPhotoEngine, UsesTheFirstWhileItWorks) {
    Script script;
    const auto engine = engineOf(script);
    const auto cutout = engine->cutOut(photo(), {});
    engine->composite(*cutout, {}, {8, 4}, {});
    engine->matte(*cutout, {}, {8, 4}, {});
    EXPECT_EQ(script.calls, (Calls{"gpu cutOut", "gpu composite", "gpu matte"}));
    EXPECT_EQ(cutout->times().front().stage, Stage::network);
    EXPECT_EQ(engine->info().kind, EngineKind::cuda);
    EXPECT_EQ(engine->info().reason, "");
}

TEST(FailoverPhotoEngine, LeavesALostDeviceForGood) {
    Script script;
    const auto engine = engineOf(script);
    script.failure = DeviceFailure("The GPU fell off the bus.", true);
    const auto cutout = engine->cutOut(photo(), {});
    EXPECT_FALSE(script.firstLives);
    engine->composite(*cutout, {}, {8, 4}, {});
    engine->cutOut(photo(), {});
    EXPECT_EQ(script.calls, (Calls{"gpu cutOut", "cpu cutOut", "cpu composite", "cpu cutOut"}));
    EXPECT_EQ(engine->info().kind, EngineKind::cpu);
    EXPECT_EQ(engine->info().reason, "The GPU fell off the bus.");
}

TEST(FailoverPhotoEngine, CutsOutAgainWhatALostDeviceHeld) {
    Script script;
    const auto engine = engineOf(script);
    const auto source = photo();
    const auto shown = engine->cutOut(source, {}), kept = engine->cutOut(photo(), {});
    script.failure = DeviceFailure("The GPU fell off the bus.", true);
    EXPECT_EQ(engine->composite(*shown, {}, {8, 4}, {}).picture->image(), source);
    engine->matte(*shown, {}, {8, 4}, {});
    engine->matte(*kept, {}, {8, 4}, {});
    EXPECT_EQ(script.calls, (Calls{"gpu cutOut", "gpu cutOut", "gpu composite", "cpu cutOut", "cpu composite",
                                   "cpu matte", "cpu cutOut", "cpu matte"}));
}

TEST(FailoverPhotoEngine, IsTheSecondAloneWhereTheFirstFailsItsSelfTest) {
    Script script;
    const auto fails = []() -> std::unique_ptr<PhotoEngine> { throw DeviceFailure("The GPU gets it wrong.", true); };
    const auto second = [&](const std::string& reason) {
        return std::make_unique<DeviceEngine>(script, "cpu", reason);
    };
    const auto engine = FailoverPhotoEngine::create(fails, second);
    EXPECT_EQ(engine->info().reason, "The GPU gets it wrong.");
    (void)engine->cutOut(photo(), {});
    EXPECT_EQ(script.calls, (Calls{"cpu cutOut"}));
}

TEST(FailoverPhotoEngine, IsNoneWhereBothFailTheirSelfTest) {
    const auto first = []() -> std::unique_ptr<PhotoEngine> { throw DeviceFailure("The GPU gets it wrong.", true); };
    const auto second = [](const std::string&) -> std::unique_ptr<PhotoEngine> {
        throw Error(ErrorCategory::model, "The model is damaged.");
    };
    try {
        FailoverPhotoEngine::create(first, second);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.category, ErrorCategory::model);
        EXPECT_STREQ(error.what(), "The model is damaged.");
    }
}

TEST(FailoverPhotoEngine, ShowsNothingWhereTheSecondFailsItsSelfTestLater) {
    Script script;
    FailoverPhotoEngine engine(std::make_unique<DeviceEngine>(script, "gpu"),
                               [](const std::string&) -> std::unique_ptr<PhotoEngine> {
                                   throw Error(ErrorCategory::model, "The model is damaged.");
                               });
    script.failure = DeviceFailure("The GPU fell off the bus.", true);
    for (int i = 0; i < 2; ++i) EXPECT_THROW(engine.cutOut(photo(), {}), Error) << "and again";
}

TEST(FailoverPhotoEngine, ComesBackToTheFirstAfterAPictureTooLarge) {
    Script script;
    const auto engine = engineOf(script);
    script.failure = DeviceFailure("The GPU's memory is too small.", false);
    const auto large = engine->cutOut(photo(), {});
    script.failure.reset();
    engine->composite(*large, {}, {8, 4}, {});
    const auto small = engine->cutOut(photo(), {});
    engine->composite(*small, {}, {8, 4}, {});
    EXPECT_EQ(script.calls, (Calls{"gpu cutOut", "cpu cutOut", "cpu composite", "gpu cutOut", "gpu composite"}));
    EXPECT_TRUE(script.firstLives);
    EXPECT_EQ(engine->info().kind, EngineKind::cuda);
    EXPECT_EQ(engine->info().warnings, (Calls{"The GPU's memory is too small."}));
}

TEST(FailoverPhotoEngine, LosingTheDeviceLaterGivesThatReason) {
    Script script;
    const auto engine = engineOf(script);
    script.failure = DeviceFailure("The GPU's memory is too small.", false);
    engine->cutOut(photo(), {});
    script.failure = DeviceFailure("The GPU fell off the bus.", true);
    engine->cutOut(photo(), {});
    EXPECT_EQ(engine->info().reason, "The GPU fell off the bus.");
}

TEST(FailoverPhotoEngine, MakesAPhotoAgainThatIsAskedForAfterItsDeviceWasLost) {
    Script script;
    script.remote = true;
    const auto engine = engineOf(script);
    const auto source = photo();
    const auto cutout = engine->cutOut(source, {});
    const auto kept = engine->composite(*cutout, {}, {8, 4}, {}).picture;
    const auto lost = engine->composite(*cutout, {}, {8, 4}, {}).picture;
    EXPECT_NE(lost->device(), nullptr);
    EXPECT_EQ(kept->image(), source);
    script.failure = DeviceFailure("The GPU fell off the bus.", true);
    script.calls.clear();
    // Where it is shown is another thread than the engine's.
    std::thread window([&] { EXPECT_EQ(lost->image(), source); });
    window.join();
    EXPECT_EQ(lost->image(), source) << "and again without asking the device";
    EXPECT_EQ(engine->info().kind, EngineKind::cpu) << "what the window learned the engine knows";
    EXPECT_EQ(engine->info().reason, "The GPU fell off the bus.");
    engine->composite(*cutout, {}, {8, 4}, {});
    EXPECT_EQ(script.calls,
              (Calls{"gpu image", "cpu cutOut", "cpu composite", "gpu composite", "cpu cutOut", "cpu composite"}));
    EXPECT_EQ(engine->info().reason, "The GPU fell off the bus.");
}

}  // namespace
}  // namespace matte
