// SPDX-License-Identifier: Apache-2.0
// When the CPU engine gives a recurrent network the state of the frame before, and when it begins at zero.
#include <algorithm>

#include <gtest/gtest.h>

#include "inference/core/synthetic_person.h"
#include "inference/cpu/cpu_engine.h"
#include "inference/engine/live_queue.h"
#include "tests/support/engines/counting_network.h"
#include "tests/support/engines/device_engine.h"
#include "tests/support/files/model_file.h"

namespace matte {
namespace {

using test::CountingNetwork;

constexpr Size kSize{96, 64};

class RecurrentLive : public testing::Test {
protected:
    test::NetworkRuns runs_;
    CpuEngine engine_{std::make_unique<CountingNetwork>(runs_), {.networkLongestSide = 64}, ""};
    CompositeParams params_;

    RecurrentLive() {
        EXPECT_EQ(runs_.before, (std::vector<float>{0, 1})) << "the self-test is on a still";
        runs_.before.clear();
    }
    static std::shared_ptr<Image> person(std::uint64_t number, Size size = kSize) {
        auto image = std::make_shared<Image>(size, PixelFormat::bgr8);
        SyntheticPerson(size, 32).drawFrame(number, *image);
        return image;
    }
    static std::shared_ptr<Image> upsideDown(std::uint64_t number) {
        const auto image = person(number);
        auto turned = std::make_shared<Image>(kSize, PixelFormat::bgr8);
        for (int y = 0; y < kSize.height; ++y) {
            std::copy_n(image->row(kSize.height - 1 - y), 3 * kSize.width, turned->row(y));
        }
        return turned;
    }
    Output show(std::shared_ptr<const Image> image) {
        EXPECT_TRUE(engine_.submit({std::move(image), number_++, {}}, params_));
        return engine_.take();
    }
    std::uint64_t number_ = 0;
};
using States = std::vector<float>;

TEST_F(RecurrentLive, EachFrameBeginsWithTheStateOfTheOneBefore) {
    for (int i = 0; i < 4; ++i) show(person(std::uint64_t(i)));
    EXPECT_EQ(runs_.before, (States{0, 1, 2, 3}));
}

TEST_F(RecurrentLive, BeginsAtZeroAfterResetAndDrop) {
    show(person(0)), show(person(1));
    engine_.reset();
    show(person(2)), show(person(3));
    engine_.drop();
    show(person(4)), show(person(5));
    EXPECT_EQ(runs_.before, (States{0, 1, 0, 1, 0, 1}));
}

TEST_F(RecurrentLive, BeginsAtZeroAtAnotherSizeOfTheInput) {
    show(person(0)), show(person(1));
    show(person(2, {64, 96})), show(person(3, {64, 96}));
    engine_.setNetworkLongestSide(32);
    show(person(4, {64, 96})), show(person(5, {64, 96}));
    EXPECT_EQ(runs_.before, (States{0, 1, 0, 1, 0, 1}));
}

TEST_F(RecurrentLive, BeginsAtZeroAfterASceneCut) {
    show(person(0)), show(person(1));
    show(upsideDown(2)), show(upsideDown(3));
    EXPECT_EQ(runs_.before, (States{0, 1, 0, 1}));
}

TEST_F(RecurrentLive, BeginsAtZeroAfterAFaultyMatte) {
    show(person(0)), show(person(1));
    runs_.fails = true;
    EXPECT_FALSE(show(person(2)).matteUsable());
    runs_.fails = false;
    show(person(3)), show(person(4));
    EXPECT_EQ(runs_.before, (States{0, 1, 2, 0, 1}));
}

TEST_F(RecurrentLive, IsKeptWithoutTheFilters) {
    params_.temporalSmoothing = 0;
    params_.removeSmallRegions = false;
    show(person(0)), show(person(1)), show(person(2));
    EXPECT_EQ(runs_.before, (States{0, 1, 2}));
}

TEST_F(RecurrentLive, AFrameThatIsRefusedLeavesNoTrace) {
    show(person(0));
    ASSERT_TRUE(engine_.submit({person(1), 1, {}}, params_));
    EXPECT_FALSE(engine_.submit({upsideDown(2), 2, {}}, params_)) << "the only slot is in use";
    (void)engine_.take();
    show(person(3));
    EXPECT_EQ(runs_.before, (States{0, 1, 2}));
}

TEST_F(RecurrentLive, APhotoBetweenFramesRunsTwiceFromZeroAndLeavesNoTrace) {
    show(person(0)), show(person(1));
    engine_.cutOut(person(2), {});
    show(person(3));
    EXPECT_EQ(runs_.before, (States{0, 1, 0, 1, 2}));
}

TEST(RecurrentFailover, TheStandbyBeginsAtZeroEachTimeItTakesOver) {
    test::DeviceScript script;
    test::NetworkRuns runs;
    using Queue = LiveQueue<int>;
    Queue queue(LiveEngines(std::make_unique<test::DeviceEngine>(script, "gpu"), [&](const std::string& reason) {
        auto engine = std::make_unique<CpuEngine>(std::make_unique<CountingNetwork>(runs), EngineOptions{}, reason);
        runs.before.clear();
        return engine;
    }));
    const auto image = std::make_shared<Image>(kSize, PixelFormat::bgr8);
    const auto show = [&](int number) {
        queue.submit({image, std::uint64_t(number), {}}, {}, number);
        return queue.take();
    };
    for (int source = 0; source < 2; ++source) {
        script.failure.reset();
        show(0);
        script.failure = DeviceFailure("The GPU's memory is too small.", false);
        for (int number = 1; number < 4; ++number) show(number);
        queue.reset();
    }
    EXPECT_EQ(runs.before, (States{0, 1, 2, 0, 1, 2}));
}

TEST(RecurrentStill, TheRegionOfASecondPassRunsTwiceToo) {
    test::NetworkRuns runs;
    CpuEngine engine(std::make_unique<CountingNetwork>(runs), {}, "");
    runs.before.clear();
    const auto photo = std::make_shared<Image>(Size{1600, 1200}, PixelFormat::bgr8);
    const auto cutout = engine.cutOut(photo, {});
    EXPECT_EQ(std::ranges::count(cutout->times(), Stage::secondPass, &StageTime::stage), 1);
    EXPECT_EQ(runs.before, (States{0, 1, 0, 1}));
}

TEST(RecurrentStill, IsTheMatteOfTheSecondRun) {
    Image picture({32, 24}, PixelFormat::bgr8);
    SyntheticPerson({32, 24}, 8).drawFrame(3, picture);
    CpuNetwork network(test::tinyRecurrentNetwork(), CpuPrecision::f32);
    const Planes once = [&] {
        (void)network.matteOf(picture.view());
        std::ranges::fill(network.state(), 0.0F);
        network.run();
        Planes matte;
        network.readMatte(matte);
        return matte;
    }();
    network.run();
    Planes twice;
    network.readMatte(twice);
    EXPECT_NE(once.values, twice.values);
    EXPECT_EQ(network.matteOf(picture.view()).values, twice.values);
    EXPECT_EQ(network.matteOf(picture.view()).values, twice.values) << "whatever ran before";
}

}  // namespace
}  // namespace matte
