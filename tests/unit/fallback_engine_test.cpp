// SPDX-License-Identifier: Apache-2.0
// When the device of the first engine fails, the second goes on with the same picture: here with engines that are told
// when to fail.
#include <optional>

#include <gtest/gtest.h>

#include "inference/error.h"
#include "inference/fallback_engine.h"

namespace matte {
namespace {

class NamedCutout final : public Cutout {
public:
    NamedCutout(std::shared_ptr<const Image> source, std::string by)
        : maker(std::move(by)), source_(std::move(source)) {}
    [[nodiscard]] std::shared_ptr<const Image> source() const override { return source_; }
    [[nodiscard]] const StageTimes& times() const override { return times_; }
    std::string maker;

private:
    std::shared_ptr<const Image> source_;
    StageTimes times_{{"network", 1}};
};

/// What the test sees and sets of the engines that FallbackEngine owns.
struct Script {
    std::optional<DeviceFailure> failure;  ///< thrown by the first engine from now on
    bool firstLives = true;
    std::vector<std::string> calls;  ///< "gpu cutOut", ...
};

/// Knows its own cut-outs only, as the real ones do.
class ScriptedEngine final : public Engine {
public:
    ScriptedEngine(Script& script, std::string name, std::string reason = "")
        : script_(script), name_(std::move(name)), reason_(std::move(reason)) {}
    ~ScriptedEngine() override {
        if (first()) script_.firstLives = false;
    }
    [[nodiscard]] EngineInfo info() const override {
        return {first() ? EngineKind::cuda : EngineKind::cpu, name_, reason_, {}};
    }
    std::shared_ptr<Cutout> cutOut(std::shared_ptr<const Image> source, std::stop_token) override {
        run("cutOut");
        return std::make_shared<NamedCutout>(std::move(source), name_);
    }
    Output composite(Cutout& cutout, const Look&, Size, std::stop_token) override {
        EXPECT_EQ(dynamic_cast<NamedCutout&>(cutout).maker, name_);
        run("composite");
        return {cutout.source(), {}};
    }
    Image matte(Cutout& cutout, const Look&, Size size, std::stop_token) override {
        EXPECT_EQ(dynamic_cast<NamedCutout&>(cutout).maker, name_);
        run("matte");
        return {size, PixelFormat::gray8};
    }

private:
    [[nodiscard]] bool first() const { return name_ == "gpu"; }
    void run(const std::string& what) {
        script_.calls.push_back(name_ + " " + what);
        if (first() && script_.failure) throw DeviceFailure(*script_.failure);
    }
    Script& script_;
    std::string name_, reason_;
};

std::unique_ptr<FallbackEngine> engineOf(Script& script) {
    return std::make_unique<FallbackEngine>(
        std::make_unique<ScriptedEngine>(script, "gpu"),
        [&script](const std::string& reason) { return std::make_unique<ScriptedEngine>(script, "cpu", reason); });
}

std::shared_ptr<const Image> photo() {
    return std::make_shared<Image>(Size{8, 4}, PixelFormat::rgba8);
}

using Calls = std::vector<std::string>;

TEST(FallbackEngine, UsesTheFirstWhileItWorks) {
    Script script;
    const auto engine = engineOf(script);
    const auto cutout = engine->cutOut(photo(), {});
    engine->composite(*cutout, {}, {8, 4}, {});
    engine->matte(*cutout, {}, {8, 4}, {});
    EXPECT_EQ(script.calls, (Calls{"gpu cutOut", "gpu composite", "gpu matte"}));
    EXPECT_EQ(cutout->times().front().name, "network");
    EXPECT_EQ(engine->info().kind, EngineKind::cuda);
    EXPECT_EQ(engine->info().reason, "");
}

TEST(FallbackEngine, LeavesALostDeviceForGood) {
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

TEST(FallbackEngine, CutsOutAgainWhatALostDeviceHeld) {
    Script script;
    const auto engine = engineOf(script);
    const auto source = photo();
    const auto shown = engine->cutOut(source, {}), kept = engine->cutOut(photo(), {});
    script.failure = DeviceFailure("The GPU fell off the bus.", true);
    EXPECT_EQ(engine->composite(*shown, {}, {8, 4}, {}).image, source);
    engine->matte(*shown, {}, {8, 4}, {});
    engine->matte(*kept, {}, {8, 4}, {});
    EXPECT_EQ(script.calls, (Calls{"gpu cutOut", "gpu cutOut", "gpu composite", "cpu cutOut", "cpu composite",
                                   "cpu matte", "cpu cutOut", "cpu matte"}));
}

TEST(FallbackEngine, ComesBackToTheFirstAfterAPictureTooLarge) {
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

TEST(FallbackEngine, LosingTheDeviceLaterGivesThatReason) {
    Script script;
    const auto engine = engineOf(script);
    script.failure = DeviceFailure("The GPU's memory is too small.", false);
    engine->cutOut(photo(), {});
    script.failure = DeviceFailure("The GPU fell off the bus.", true);
    engine->cutOut(photo(), {});
    EXPECT_EQ(engine->info().reason, "The GPU fell off the bus.");
}

TEST(FallbackEngine, RefusesAnotherEnginesCutout) {
    Script script;
    NamedCutout foreign(photo(), "gpu");
    EXPECT_THROW(engineOf(script)->composite(foreign, {}, {8, 4}, {}), Error);
}

}  // namespace
}  // namespace matte
