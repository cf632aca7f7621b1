// SPDX-License-Identifier: Apache-2.0
// When the device of the first engine fails, the second goes on with the same picture: here with engines that are told
// when to fail.
#include <deque>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "inference/core/error.h"
#include "inference/engine/fallback_engine.h"

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
    bool remote = false;             ///< the first engine's pictures stay on its device
    std::vector<std::string> calls;  ///< "gpu cutOut", ...
};

/// In the memory of a device that may be lost before somebody asks for it.
class RemotePicture final : public Picture {
public:
    RemotePicture(Script& script, std::shared_ptr<const Image> image) : script_(script), image_(std::move(image)) {}
    [[nodiscard]] Size size() const override { return image_->size(); }
    [[nodiscard]] std::shared_ptr<const Image> image() const override {
        script_.calls.emplace_back("gpu image");
        if (script_.failure) throw DeviceFailure(*script_.failure);
        return image_;
    }
    [[nodiscard]] const DevicePicture* device() const override {
        return reinterpret_cast<const DevicePicture*>(this);  // only told from null here
    }

private:
    Script& script_;
    std::shared_ptr<const Image> image_;
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
    Output composite(Cutout& cutout, const CompositeParams&, Size, std::stop_token) override {
        EXPECT_EQ(dynamic_cast<NamedCutout&>(cutout).maker, name_);
        run("composite");
        Output output;
        if (first() && script_.remote) {
            output.picture = std::make_shared<RemotePicture>(script_, cutout.source());
        } else {
            output.picture = std::make_shared<HostPicture>(cutout.source());
        }
        return output;
    }
    Image matte(Cutout& cutout, const CompositeParams&, Size size, std::stop_token) override {
        EXPECT_EQ(dynamic_cast<NamedCutout&>(cutout).maker, name_);
        run("matte");
        return {size, PixelFormat::gray8};
    }
    [[nodiscard]] int slots() const override { return first() ? 2 : 1; }
    void submit(const Frame& frame, const CompositeParams&) override {
        underWay_.push_back(frame.number);
        EXPECT_LE(underWay_.size(), std::size_t(slots()));
        run("submit " + std::to_string(frame.number));
    }
    Output take() override {
        run("take");
        Output output;
        output.frame = underWay_.front();
        underWay_.pop_front();
        return output;
    }
    void drop() override { underWay_.clear(); }
    void reset() override { underWay_.clear(); }
    [[nodiscard]] std::vector<LayerInfo> layers() const override { return {}; }
    void timeLayers(bool) override {}

private:
    [[nodiscard]] bool first() const { return name_ == "gpu"; }
    void run(const std::string& what) {
        script_.calls.push_back(name_ + " " + what);
        if (first() && script_.failure) throw DeviceFailure(*script_.failure);
    }
    Script& script_;
    std::string name_, reason_;
    std::deque<std::uint64_t> underWay_;
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
    EXPECT_EQ(engine->composite(*shown, {}, {8, 4}, {}).picture->image(), source);
    engine->matte(*shown, {}, {8, 4}, {});
    engine->matte(*kept, {}, {8, 4}, {});
    EXPECT_EQ(script.calls, (Calls{"gpu cutOut", "gpu cutOut", "gpu composite", "cpu cutOut", "cpu composite",
                                   "cpu matte", "cpu cutOut", "cpu matte"}));
}

TEST(FallbackEngine, IsTheSecondAloneWhereTheFirstFailsItsSelfTest) {
    Script script;
    const auto fails = []() -> std::unique_ptr<Engine> { throw DeviceFailure("The GPU gets it wrong.", true); };
    const auto second = [&](const std::string& reason) {
        return std::make_unique<ScriptedEngine>(script, "cpu", reason);
    };
    const auto engine = FallbackEngine::create(fails, second);
    EXPECT_EQ(engine->info().reason, "The GPU gets it wrong.");
    (void)engine->cutOut(photo(), {});
    EXPECT_EQ(script.calls, (Calls{"cpu cutOut"}));
}

TEST(FallbackEngine, IsNoneWhereBothFailTheirSelfTest) {
    const auto first = []() -> std::unique_ptr<Engine> { throw DeviceFailure("The GPU gets it wrong.", true); };
    const auto second = [](const std::string&) -> std::unique_ptr<Engine> {
        throw Error(ErrorCategory::model, "The model is damaged.");
    };
    try {
        FallbackEngine::create(first, second);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.category, ErrorCategory::model);
        EXPECT_STREQ(error.what(), "The model is damaged.");
    }
}

TEST(FallbackEngine, ShowsNothingWhereTheSecondFailsItsSelfTestLater) {
    Script script;
    FallbackEngine engine(std::make_unique<ScriptedEngine>(script, "gpu"),
                          [](const std::string&) -> std::unique_ptr<Engine> {
                              throw Error(ErrorCategory::model, "The model is damaged.");
                          });
    engine.submit({photo(), 5, {}}, {});
    script.failure = DeviceFailure("The GPU fell off the bus.", true);
    for (int i = 0; i < 2; ++i) EXPECT_THROW(engine.take(), Error) << "and again";
    EXPECT_THROW(engine.cutOut(photo(), {}), Error);
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

TEST(FallbackEngine, BeginsLiveFramesAgainThatALostDeviceHad) {
    Script script;
    const auto engine = engineOf(script);
    engine->submit({photo(), 5, {}}, {});
    engine->submit({photo(), 6, {}}, {});
    script.failure = DeviceFailure("The GPU fell off the bus.", true);
    EXPECT_EQ(engine->take().frame, 5U);
    EXPECT_EQ(engine->slots(), 1);
    EXPECT_EQ(engine->take().frame, 6U);
    engine->submit({photo(), 7, {}}, {});
    EXPECT_EQ(engine->take().frame, 7U);
    EXPECT_EQ(script.calls, (Calls{"gpu submit 5", "gpu submit 6", "gpu take", "cpu submit 5", "cpu take",
                                   "cpu submit 6", "cpu take", "cpu submit 7", "cpu take"}));
}

TEST(FallbackEngine, BeginsLiveFramesAgainWhenAPhotoFindsTheDeviceLost) {
    Script script;
    const auto engine = engineOf(script);
    engine->submit({photo(), 5, {}}, {});
    script.failure = DeviceFailure("The GPU fell off the bus.", true);
    engine->cutOut(photo(), {});
    EXPECT_EQ(engine->take().frame, 5U);
    EXPECT_EQ(script.calls, (Calls{"gpu submit 5", "gpu cutOut", "cpu cutOut", "cpu submit 5", "cpu take"}));
}

TEST(FallbackEngine, StaysLiveOnTheSecondUntilAnotherSourceBegins) {
    Script script;
    const auto engine = engineOf(script);
    script.failure = DeviceFailure("The GPU's memory is too small.", false);
    engine->submit({photo(), 0, {}}, {});
    script.failure.reset();
    EXPECT_EQ(engine->take().frame, 0U);
    engine->submit({photo(), 1, {}}, {});
    EXPECT_EQ(engine->take().frame, 1U);
    engine->reset();
    engine->submit({photo(), 0, {}}, {});
    EXPECT_EQ(script.calls,
              (Calls{"gpu submit 0", "cpu submit 0", "cpu take", "cpu submit 1", "cpu take", "gpu submit 0"}));
}

TEST(FallbackEngine, MakesAPhotoAgainThatIsAskedForAfterItsDeviceWasLost) {
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

TEST(FallbackEngine, RefusesAnotherEnginesCutout) {
    Script script;
    NamedCutout foreign(photo(), "gpu");
    EXPECT_THROW(engineOf(script)->composite(foreign, {}, {8, 4}, {}), Error);
}

}  // namespace
}  // namespace matte
