// SPDX-License-Identifier: Apache-2.0
// When the CPU engine gives a recurrent network the state of the frame before, and when it begins at zero.
#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "inference/core/synthetic_person.h"
#include "inference/cpu/cpu_engine.h"
#include "tests/support/files/model_file.h"

namespace matte {
namespace {

constexpr Size kSize{96, 64};

/// What the test sees of a network's runs: how many the state that each began with had been through.
struct Runs {
    std::vector<float> before;
    bool fails = false;  ///< the next mattes are not finite
};

/// A network whose state counts its runs; it finds a person in the middle.
class CountingNetwork final : public HostNetwork {
public:
    explicit CountingNetwork(Runs& runs) : runs_(runs) {}
    [[nodiscard]] const UNet& unet() const override { return unet_; }
    void configure(Size size) override {
        if (size == input_.size) return;
        input_ = Planes(size, 3);
        alpha_ = Planes(size, 1);
        state_.assign(size.pixels(), 0.0F);
    }
    [[nodiscard]] Size size() const override { return input_.size; }
    [[nodiscard]] float* input() override { return input_.values.data(); }
    [[nodiscard]] const float* alpha() const override { return alpha_.values.data(); }
    [[nodiscard]] std::span<float> state() override { return state_; }
    void run(std::stop_token, std::vector<float>*) override {
        EXPECT_EQ(std::ranges::count(state_, state_.front()), std::ptrdiff_t(state_.size())) << "a state in part";
        runs_.before.push_back(state_.front());
        for (float& value : state_) value += 1;
        const float nan = std::numeric_limits<float>::quiet_NaN();
        const auto [width, height] = alpha_.size;
        for (int y = 0; y < height; ++y) {
            for (int x = 0; x < width; ++x) {
                const bool inside = std::abs(x - width / 2) < width / 8 && std::abs(y - height / 2) < height / 8;
                alpha_.row(y)[x] = runs_.fails ? nan : inside ? 1.0F : 0.0F;
            }
        }
    }
    [[nodiscard]] std::string name() const override { return "counting"; }
    [[nodiscard]] std::string implementation(int) const override { return "counting"; }
    [[nodiscard]] int valueBytes() const override { return 4; }

private:
    Runs& runs_;
    UNet unet_ = test::tinyRecurrentNetwork();
    Planes input_, alpha_;
    std::vector<float> state_;
};

class RecurrentLive : public testing::Test {
protected:
    Runs runs_;
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

TEST(RecurrentStill, TheRegionOfASecondPassRunsTwiceToo) {
    Runs runs;
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
