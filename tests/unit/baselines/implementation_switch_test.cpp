// SPDX-License-Identifier: Apache-2.0
// The live network switched from implementation to implementation while frames run: the same mattes, nothing loaded
// before it is chosen, and the product's engine where an implementation fails or is too slow.
#include <atomic>
#include <chrono>
#include <cmath>
#include <future>

#include <gtest/gtest.h>

#include "inference/backends/create_engine.h"
#include "inference/baselines/live/baseline_selector.h"
#include "inference/core/error.h"
#include "tests/support/engines/scripted_live.h"
#include "tests/support/files/model_file.h"
#include "tests/support/pictures/scene.h"
#include "tests/support/running/gate.h"

namespace matte::baselines {
namespace {

constexpr Size kFrame{96, 64};

/// What the test's own implementations do.
struct Wish {
    std::atomic<bool> fail = false, giveNan = false;
    test::Gate run;  ///< a run waits at it
    std::atomic<int> made = 0, runs = 0;
    std::atomic<double> msAPixel = 0;  ///< that it says it took; 0: what it did take
} wish;

class ToldImplementation final : public NetworkImplementation {
public:
    explicit ToldImplementation(const ModelPointer& model)
        : inner_(makeNetwork(implementationNamed("cpu-im2col"), model)) {
        ++wish.made;
    }
    void configure(Size size) override { inner_->configure(size); }
    RunReport run(std::span<const float> input, std::span<float> alpha) override {
        ++wish.runs;
        if (!wish.run.pass(stop_)) throw Cancelled{};
        if (wish.fail) throw Error(ErrorCategory::engine, "The test's implementation broke: mend it.");
        RunReport report = inner_->run(input, alpha);
        if (wish.giveNan) alpha[alpha.size() / 2] = NAN;
        if (wish.msAPixel > 0) report.ms = wish.msAPixel * double(alpha.size());
        return report;
    }
    [[nodiscard]] std::vector<float> activation(int) const override { return {}; }

private:
    std::unique_ptr<NetworkImplementation> inner_;
};

const Implementation kTold{"cpu-told",
                           "CPU: as the test says",
                           Where::cpu,
                           1e-10,
                           false,
                           false,
                           nullptr,
                           [](const ModelPointer& model) -> std::unique_ptr<NetworkImplementation> {
                               return std::make_unique<ToldImplementation>(model);
                           }};
const Implementation kUnbuildable{"cpu-unbuildable",
                                  "CPU: never there",
                                  Where::cpu,
                                  1e-10,
                                  false,
                                  false,
                                  nullptr,
                                  [](const ModelPointer&) -> std::unique_ptr<NetworkImplementation> {
                                      throw Error(ErrorCategory::engine,
                                                  "There is not enough memory for it: choose another.");
                                  }};

Frame frameOf(std::uint64_t number) {
    static const auto image = std::make_shared<const Image>(test::makeScene(kFrame).photo);
    return {image, number, std::chrono::steady_clock::now()};
}

/// A queue of live frames whose engine can be replaced.
class SelectedQueue {
public:
    SelectedQueue(std::unique_ptr<LiveEngine> engine,
                  Product product,
                  const std::shared_ptr<ImplementationSwitch>& implementations)
        : queue_(withSelector(std::move(engine), std::move(product), implementations)) {}
    void submit(const Frame& frame, const CompositeParams& params) { queue_.submit(frame, params, 0); }
    Output take() { return queue_.take().output; }
    LiveQueue<int>* operator->() { return &queue_; }
    LiveQueue<int>& operator*() { return queue_; }

private:
    static LiveEngines withSelector(std::unique_ptr<LiveEngine> engine,
                                    Product product,
                                    const std::shared_ptr<ImplementationSwitch>& implementations) {
        LiveEngines engines(std::move(engine));
        engines.selector = std::make_unique<BaselineSelector>(std::move(product), implementations);
        return engines;
    }
    LiveQueue<int> queue_;
};

/// The CPU engine with a small network, and the switch beside it.
class ImplementationSwitching : public testing::Test {
protected:
    ImplementationSwitching() {
        wish.fail = wish.giveNan = false;
        wish.run.open();
        wish.made = wish.runs = 0;
        wish.msAPixel = 0;
    }
    std::unique_ptr<LiveEngine> product() const {
        return createLiveEngines(UNet::load(Safetensors::parse(bytes_, "tiny")), options_).first;
    }
    Product setup() {
        return {[this] {
                    ++loaded_;
                    return std::make_shared<const Model>(Model::load(Safetensors::parse(bytes_, "tiny")));
                },
                options_};
    }
    Output show(SelectedQueue& engine) {
        engine.submit(frameOf(number_), params_);
        Output output = engine.take();
        EXPECT_EQ(output.frame, number_);
        ++number_;
        return output;
    }
    /// Frames until `implementation` has computed one; false after many seconds.
    bool showUntilRunning(SelectedQueue& engine, const Implementation* implementation) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (std::chrono::steady_clock::now() < end) {
            EXPECT_TRUE(show(engine).matteUsable());
            const ImplementationStatus status = implementations_->status();
            if (status.running == implementation && (!implementation || status.ms > 0)) return true;
        }
        return false;
    }

    /// What it is compared with is prepared while the implementation's first frames run.
    bool showUntilCompared(SelectedQueue& engine) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (!implementations_->status().difference && std::chrono::steady_clock::now() < end) show(engine);
        return implementations_->status().difference.has_value();
    }

    /// A machine that hesitates while the implementation is measured starts it at a smaller input, which the next
    /// frames let grow by what they say they took.
    bool showUntilInput(SelectedQueue& engine, Size input) {
        for (int i = 0; i < 3 && implementations_->status().input != input; ++i) show(engine);
        return implementations_->status().input == input;
    }

    std::vector<std::uint8_t> bytes_ = test::encodeSafetensors(test::randomUNet({4, 8, 16}, 1));
    EngineOptions options_{.kind = EngineKind::cpu, .networkLongestSide = 64, .precision = Precision::fp32};
    std::shared_ptr<ImplementationSwitch> implementations_ = std::make_shared<ImplementationSwitch>();
    std::atomic<int> loaded_ = 0;
    std::uint64_t number_ = 0;
    CompositeParams params_{};
};

TEST_F(ImplementationSwitching, EveryImplementationThatRunsHereGivesTheProductsMatte) {
    options_.networkLongestSide = 32;  // the smallest input: no implementation is too slow for it on a loaded machine
    SelectedQueue engine(product(), setup(), implementations_);
    const auto expected = show(engine).picture->image();
    for (const Implementation& implementation : implementations()) {
        if (!implementation.network || !whyUnavailable(implementation).empty()) continue;
        implementations_->choose(&implementation);
        ASSERT_TRUE(showUntilRunning(engine, &implementation)) << implementation.name;
        ASSERT_TRUE(showUntilCompared(engine)) << implementation.name;
        const ImplementationStatus status = implementations_->status();
        EXPECT_GT(status.ms, 0) << implementation.name;
        EXPECT_GT(status.productMs, 0) << implementation.name;
        EXPECT_LE(status.difference->maximum, implementation.tensorCores ? 1e-2 : 1e-5) << implementation.name;
        EXPECT_LE(status.difference->mean, status.difference->maximum) << implementation.name;
        EXPECT_NE(engine->info().name.find(implementation.name), std::string::npos) << engine->info().name;
        const auto found = show(engine).picture->image();
        int most = 0;
        for (std::size_t i = 0; i < found->bytes(); ++i) {
            most = std::max(most, std::abs(int(found->row(0)[i]) - int(expected->row(0)[i])));
        }
        EXPECT_LE(most, implementation.tensorCores ? 8 : 1) << implementation.name;
    }
    implementations_->choose(nullptr);
    ASSERT_TRUE(showUntilRunning(engine, nullptr));
    EXPECT_EQ(engine->info().name, product()->info().name);
    EXPECT_FALSE(implementations_->status().difference);
}

TEST_F(ImplementationSwitching, AnImplementationOfTheCpuCopiesNothingToADevice) {
    SelectedQueue engine(product(), setup(), implementations_);
    implementations_->choose(&implementationNamed("cpu-parallel"));
    ASSERT_TRUE(showUntilRunning(engine, &implementationNamed("cpu-parallel")));
    const Output output = show(engine);
    EXPECT_EQ(output.bytesUp, 0U);
    EXPECT_EQ(output.bytesDown, 0U);
}

TEST_F(ImplementationSwitching, TheLayersOfAnImplementationAreTimedAsTheProductsAre) {
    SelectedQueue engine(product(), setup(), implementations_);
    for (const char* name : {"cpu-im2col", "cpu-onednn"}) {
        implementations_->choose(&implementationNamed(name));
        ASSERT_TRUE(showUntilRunning(engine, &implementationNamed(name)));
        engine->timeLayers(true);
        const Output timed = show(engine);
        const std::vector<LayerInfo> layers = engine->layers();
        ASSERT_EQ(timed.layerMs.size(), layers.size()) << name;
        double sum = 0;
        for (const float ms : timed.layerMs) sum += double(ms);
        EXPECT_GT(sum, 0) << name;
        EXPECT_LE(sum, implementations_->status().ms) << name;
        EXPECT_EQ(layers.front().kernel, name);
        engine->timeLayers(false);
        EXPECT_TRUE(show(engine).layerMs.empty()) << name;
    }
}

TEST_F(ImplementationSwitching, FineDetailIsTheProductsAlone) {
    bytes_ = test::encodeSafetensors(test::randomUNet({4, 8, 16}, 1), {{"longest_side", "64"}, {"photo_side", "128"}});
    options_.networkLongestSide = 0;
    params_.fineDetail = true;
    wish.msAPixel = 0.01;
    SelectedQueue engine(product(), setup(), implementations_);
    const auto ends = [&](const std::string& shape) { return engine->layers().front().shape.ends_with(shape); };
    show(engine);
    EXPECT_TRUE(engine->info().fineDetail && ends("128x84")) << engine->layers().front().shape;
    implementations_->choose(&kTold);
    ASSERT_TRUE(showUntilRunning(engine, &kTold));
    ASSERT_TRUE(showUntilInput(engine, {64, 44}));
    EXPECT_TRUE(!engine->info().fineDetail && ends("64x44")) << engine->layers().front().shape;
}

TEST_F(ImplementationSwitching, NothingIsLoadedBeforeItIsChosen) {
    SelectedQueue engine(product(), setup(), implementations_);
    for (int i = 0; i < 3; ++i) show(engine);
    EXPECT_EQ(loaded_, 0);
    EXPECT_EQ(wish.made, 0);
    implementations_->choose(&kTold);
    EXPECT_EQ(wish.made, 0) << "not by who chooses: that is the window's thread";
    ASSERT_TRUE(showUntilRunning(engine, &kTold));
    EXPECT_EQ(loaded_, 1);
    EXPECT_EQ(wish.made, 1);
}

TEST_F(ImplementationSwitching, WhatIsChosenAtTheStartRunsFromTheFirstFrameOn) {
    implementations_ = std::make_shared<ImplementationSwitch>(&kTold);
    SelectedQueue engine(product(), setup(), implementations_);
    const int before = wish.runs;  // to measure how fast it is
    show(engine);
    EXPECT_EQ(wish.runs, before + 1);
    EXPECT_EQ(implementations_->status().running, &kTold);
}

TEST_F(ImplementationSwitching, NoImplementationsFirstPictureWaitsForTheComparison) {
    SelectedQueue engine(product(), setup(), implementations_);
    for (const double msAPixel : {0.0, 0.3}) {  // at the network's own input, and at a smaller one
        wish.msAPixel = msAPixel;
        implementations_->choose(&kTold);
        ASSERT_TRUE(showUntilRunning(engine, &kTold));
        EXPECT_FALSE(implementations_->status().difference)
            << "the first picture is there, and nothing was compared yet";
        EXPECT_TRUE(showUntilCompared(engine));
        implementations_->choose(nullptr);
        ASSERT_TRUE(showUntilRunning(engine, nullptr));
    }
}

TEST_F(ImplementationSwitching, ASlowImplementationRunsAtASmallerInputAndIsComparedThere) {
    wish.msAPixel = 0.3;  // at the network's own 64x44 a frame would take 0.84 s, and at 32x20 it takes 0.19 s
    SelectedQueue engine(product(), setup(), implementations_);
    const auto expected = show(engine).picture->image();
    implementations_->choose(&kTold);
    ASSERT_TRUE(showUntilRunning(engine, &kTold));
    ASSERT_TRUE(showUntilCompared(engine));
    const Output output = show(engine);
    EXPECT_TRUE(output.matteUsable());
    EXPECT_EQ(output.picture->size(), expected->size()) << "only the network's input is smaller";
    const ImplementationStatus status = implementations_->status();
    EXPECT_EQ(status.input, (Size{32, 20}));
    EXPECT_EQ(status.smaller, whySmaller({{32, 20}, 192}, {64, 44}));
    EXPECT_LE(status.difference->maximum, 1e-5) << "like with like: the product's network at the same input";
    EXPECT_EQ(engine->info().name.find("32x20"), std::string::npos) << "another name would be another engine";
    EXPECT_EQ(engine->info().warnings.back(), status.smaller);

    implementations_->choose(nullptr);
    ASSERT_TRUE(showUntilRunning(engine, nullptr));
    EXPECT_EQ(implementations_->status().smaller, "");
    const auto found = show(engine).picture->image();
    EXPECT_EQ(std::vector(expected->row(0), expected->row(0) + expected->bytes()),
              std::vector(found->row(0), found->row(0) + found->bytes()))
        << "the default's input is as it was";
}

TEST_F(ImplementationSwitching, TheInputGrowsWhenTheFramesAreFasterThanWhatWasMeasuredBefore) {
    wish.msAPixel = 0.3;
    SelectedQueue engine(product(), setup(), implementations_);
    implementations_->choose(&kTold);
    ASSERT_TRUE(showUntilRunning(engine, &kTold));
    ASSERT_EQ(implementations_->status().input, (Size{32, 20}));
    engine->reset();  // another source
    wish.msAPixel = 0.1;
    show(engine);
    show(engine);
    EXPECT_EQ(implementations_->status().input, (Size{64, 44}));
    EXPECT_EQ(implementations_->status().smaller, "");
    EXPECT_TRUE(showUntilCompared(engine));
}

TEST_F(ImplementationSwitching, AFrameThatTookTooLongMakesTheInputSmallerOnce) {
    wish.msAPixel = 0.01;
    SelectedQueue engine(product(), setup(), implementations_);
    show(engine);
    implementations_->choose(&kTold);
    ASSERT_TRUE(showUntilRunning(engine, &kTold));
    ASSERT_TRUE(showUntilInput(engine, {64, 44}));
    engine->reset();
    wish.msAPixel = 0.5;  // 1.4 s
    show(engine);
    show(engine);
    EXPECT_EQ(implementations_->status().input, (Size{32, 20}));
    wish.msAPixel = 0.01;
    show(engine);
    show(engine);
    EXPECT_EQ(implementations_->status().input, (Size{32, 20})) << "once: a picture that changes its mind is worse";
}

TEST_F(ImplementationSwitching, WhenAnImplementationBreaksTheFrameIsTheProducts) {
    SelectedQueue engine(product(), setup(), implementations_);
    const auto expected = show(engine).picture->image();
    for (std::atomic<bool>* fault : {&wish.fail, &wish.giveNan}) {
        wish.fail = wish.giveNan = false;
        implementations_->choose(&kTold);
        ASSERT_TRUE(showUntilRunning(engine, &kTold));
        *fault = true;
        const Output output = show(engine);
        EXPECT_TRUE(output.matteUsable());
        EXPECT_EQ(std::vector(expected->row(0), expected->row(0) + expected->bytes()),
                  std::vector(output.picture->image()->row(0), output.picture->image()->row(0) + expected->bytes()));
        const ImplementationStatus status = implementations_->status();
        EXPECT_EQ(status.chosen, nullptr);
        EXPECT_EQ(status.running, nullptr);
        EXPECT_NE(status.problem.find(fault == &wish.fail ? "mend it" : "no matte"), std::string::npos)
            << status.problem;
        ASSERT_FALSE(engine->info().warnings.empty());
        EXPECT_EQ(engine->info().warnings.back(), status.problem) << "so that the window hears of it";
        const int runs = wish.runs;
        show(engine);
        EXPECT_EQ(wish.runs, runs) << "it is not tried again by itself";
    }
}

TEST_F(ImplementationSwitching, AnImplementationThatCantBeBuiltLeavesThePictureAsItIs) {
    SelectedQueue engine(product(), setup(), implementations_);
    implementations_->choose(&kUnbuildable);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (implementations_->status().problem.empty() && std::chrono::steady_clock::now() < end) {
        EXPECT_TRUE(show(engine).matteUsable());
    }
    EXPECT_NE(implementations_->status().problem.find("not enough memory"), std::string::npos);
    EXPECT_EQ(implementations_->status().chosen, nullptr);
    implementations_->choose(&kTold);
    EXPECT_EQ(implementations_->status().problem, "") << "another choice, another chance";
    EXPECT_TRUE(showUntilRunning(engine, &kTold));
}

TEST_F(ImplementationSwitching, ASlowImplementationIsNotWaitedForOnceAnotherIsChosen) {
    SelectedQueue engine(product(), setup(), implementations_);
    for (const Implementation* next :
         {static_cast<const Implementation*>(nullptr), &implementationNamed("cpu-parallel")}) {
        wish.run.open();
        implementations_->choose(&kTold);
        ASSERT_TRUE(showUntilRunning(engine, &kTold));
        wish.run.close();
        engine.submit(frameOf(number_++), {});
        implementations_->choose(next);
        EXPECT_TRUE(engine.take().matteUsable());
        EXPECT_TRUE(showUntilRunning(engine, next));
        EXPECT_EQ(implementations_->status().problem, "");
    }
}

TEST_F(ImplementationSwitching, AnImplementationThatIsMeasuredForLongIsGivenUpOnceAnotherIsChosen) {
    auto engine = std::make_unique<SelectedQueue>(product(), setup(), implementations_);
    const auto showUntilMeasured = [&] {
        const int before = wish.runs;
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (wish.runs == before && std::chrono::steady_clock::now() < end) show(*engine);
        EXPECT_GT(wish.runs, before);
    };
    wish.run.close();  // a run ends only when it is stopped
    implementations_->choose(&kTold);
    showUntilMeasured();
    implementations_->choose(&implementationNamed("cpu-parallel"));
    EXPECT_TRUE(showUntilRunning(*engine, &implementationNamed("cpu-parallel")));
    EXPECT_EQ(implementations_->status().problem, "");

    implementations_->choose(&kTold);
    showUntilMeasured();
    implementations_->choose(nullptr);
    EXPECT_TRUE(showUntilRunning(*engine, nullptr));
    wish.run.open();
    implementations_->choose(&kTold);
    EXPECT_TRUE(showUntilRunning(*engine, &kTold)) << "what was given up is built anew";
    EXPECT_EQ(implementations_->status().problem, "");

    implementations_->choose(nullptr);
    EXPECT_TRUE(showUntilRunning(*engine, nullptr));
    wish.run.close();
    implementations_->choose(&kTold);
    showUntilMeasured();
    const auto gone = std::async(std::launch::async, [&] { engine.reset(); });
    EXPECT_EQ(gone.wait_for(std::chrono::seconds(60)), std::future_status::ready);
    wish.run.open();
}

TEST_F(ImplementationSwitching, FramesUnderWayAreBegunAgainAndStayInOrder) {
    test::LiveScript script;
    script.slots = 3;
    SelectedQueue engine(test::scriptedEngine(script), setup(), implementations_);
    const auto picture = std::make_shared<const Image>(test::makeScene(kFrame).photo);
    std::uint64_t in = 0, out = 0;
    const auto turn = [&] {
        while (int(in - out) < engine->slots()) engine.submit({picture, in++, {}}, {});
        EXPECT_EQ(engine.take().frame, out++);
    };
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    for (const Implementation* implementation : {&kTold, static_cast<const Implementation*>(nullptr)}) {
        implementations_->choose(implementation);
        while (implementations_->status().running != implementation && std::chrono::steady_clock::now() < end) turn();
        ASSERT_EQ(implementations_->status().running, implementation);
        for (int i = 0; i < 5; ++i) turn();
    }
    EXPECT_EQ(script.mostUnderWay, 3);
}

TEST(ImplementationStatus, WhyTheInputIsSmallerFollowsTheNetworksOwnInputToo) {
    ImplementationSwitch implementations(&kTold);
    implementations.begin(&kTold);
    implementations.measured({{32, 32}, 200}, {64, 44});
    implementations.compared(1, {});
    implementations.measured({{32, 32}, 210}, {64, 44});
    EXPECT_EQ(implementations.status().smaller, whySmaller({{32, 32}, 200}, {64, 44}))
        << "a text that changes can't be read";
    implementations.measured({{32, 32}, 220}, {44, 64});  // a source of another shape shares the tiny input
    EXPECT_EQ(implementations.status().smaller, whySmaller({{32, 32}, 220}, {44, 64}));
    EXPECT_TRUE(implementations.status().difference) << "of the same input";
    implementations.measured({{32, 32}, 220}, {32, 32});
    EXPECT_EQ(implementations.status().smaller, "");
}

TEST(ImplementationNames, AreCheckedInOneSentence) {
    EXPECT_EQ(networkImplementationNamed("cpu-im2col").name, "cpu-im2col");
    const auto refusal = [](const char* name) -> std::string {
        try {
            networkImplementationNamed(name);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_NE(refusal("gpu-magic").find("cpu-sequential, cpu-parallel"), std::string::npos) << refusal("gpu-magic");
    EXPECT_NE(refusal("gpu-cudnn").find("Single layers"), std::string::npos) << refusal("gpu-cudnn");
    for (const Implementation& implementation : implementations()) {
        const std::string why = whyUnavailable(implementation);
        if (!implementation.network || why.empty()) continue;
        EXPECT_NE(refusal(std::string(implementation.name).c_str()).find(why), std::string::npos)
            << implementation.name;
    }
}

}  // namespace
}  // namespace matte::baselines
