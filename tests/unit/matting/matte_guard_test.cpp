// SPDX-License-Identifier: Apache-2.0
// A live matte that suddenly covers everything while the picture stays is not shown: what is judged, and what live
// frames on the CPU make of it.
#include <algorithm>

#include <gtest/gtest.h>

#include "inference/core/synthetic_person.h"
#include "inference/cpu/cpu_engine.h"
#include "inference/matting/matte_guard.h"
#include "tests/support/engines/painted_network.h"

namespace matte {
namespace {

constexpr float kNoise = 0.003F;  // a camera's, in the network's input

/// What becomes of mattes of these coverages while the picture stays: 1 for what is refused.
std::vector<int> refused(MatteGuard& guard, const std::vector<float>& covered, float change = kNoise) {
    std::vector<int> result;
    result.reserve(covered.size());
    for (const float share : covered) result.push_back(guard.judge(true, share, change) == MatteFault::everything);
    return result;
}
using Verdicts = std::vector<int>;

TEST(MatteGuard, RefusesAJumpToEverythingUntilTheMatteIsPlausibleAgain) {
    MatteGuard guard;
    EXPECT_EQ(refused(guard, {0.4F, 0.4F, 1, 0.98F, 1, 1, 1, 0.42F, 0.4F, 1}),
              (Verdicts{0, 0, 1, 1, 1, 1, 1, 0, 0, 1}));
}

TEST(MatteGuard, RefusesAJumpThatTakesTwoFrames) {
    MatteGuard guard;
    EXPECT_EQ(refused(guard, {0.4F, 0.4F, 0.8F, 1, 1}), (Verdicts{0, 0, 0, 1, 1}));
}

TEST(MatteGuard, BelievesWhoComesNearFrameByFrame) {
    MatteGuard guard;
    std::vector<float> covered;
    for (float share = 0.3F; share < 1; share += 0.02F) covered.push_back(share);
    EXPECT_EQ(refused(guard, covered), Verdicts(covered.size(), 0));
}

TEST(MatteGuard, BelievesAJumpInAPictureThatChanges) {
    MatteGuard guard;
    refused(guard, {0.3F, 0.3F});
    EXPECT_EQ(guard.judge(true, 1, 0.2F), MatteFault::none) << "a hand before the camera";
    guard = {};
    refused(guard, {0.3F, 0.3F});
    EXPECT_EQ(guard.judge(true, 1, 0.04F), MatteFault::everything);
    EXPECT_EQ(guard.judge(true, 1, 0.04F), MatteFault::none) << "over two frames it is enough";
}

TEST(MatteGuard, GivesInWhereThePictureReallyChanges) {
    MatteGuard guard;
    EXPECT_EQ(refused(guard, {0.4F, 1, 1, 1}), (Verdicts{0, 1, 1, 1}));
    EXPECT_EQ(guard.judge(true, 1, 0.25F), MatteFault::none) << "another scene";
    EXPECT_EQ(refused(guard, {1, 1}), (Verdicts{0, 0}));
}

TEST(MatteGuard, BelievesTheFirstMatteAndOneOfSomebodyWhoIsNear) {
    MatteGuard guard;
    EXPECT_EQ(refused(guard, {1, 1, 0.9F, 0.8F, 1}), Verdicts(5, 0));
}

TEST(MatteGuard, TakesWhatIsNotFiniteForNothing) {
    MatteGuard guard;
    EXPECT_EQ(guard.judge(false, 0, 0), MatteFault::notFinite);
    EXPECT_EQ(refused(guard, {0.4F}), (Verdicts{0}));
    EXPECT_EQ(guard.judge(false, 1, kNoise), MatteFault::notFinite);
    EXPECT_EQ(refused(guard, {1}), (Verdicts{1}));
}

constexpr Size kFrame{192, 128};

/// The drawn person, brighter by `light`.
std::shared_ptr<const Image> person(std::uint64_t number, int light = 0) {
    static const SyntheticPerson drawn(kFrame, 32);
    auto image = std::make_shared<Image>(kFrame, PixelFormat::bgr8);
    drawn.drawFrame(number, *image);
    for (std::size_t i = 0; i < image->bytes(); ++i) {
        image->row(0)[i] = std::uint8_t(std::clamp(image->row(0)[i] + light, 0, 255));
    }
    return image;
}

/// Live frames on the CPU, by a network whose matte covers the left `share` of each.
class GuardedLive : public testing::Test {
protected:
    MatteFault show(const std::shared_ptr<const Image>& image, float covered) {
        share_ = covered;
        engine_.submit({image, 0, {}}, params_);
        Output output = engine_.take();
        shown_ = output.picture->image();
        return output.matteFault;
    }
    /// Whether the green background is all that is shown.
    [[nodiscard]] bool nobody() const {
        for (std::size_t i = 0; i < shown_->bytes(); i += 4) {
            const std::uint8_t* pixel = shown_->row(0) + i;
            if (pixel[0] != 0 || pixel[1] != 0xB1 || pixel[2] != 0x40) return false;
        }
        return true;
    }

    float share_ = 0;
    CompositeParams params_ = [] {
        CompositeParams params;
        params.background = parseBackground("color:#00b140");
        return params;
    }();
    CpuEngine engine_{std::make_unique<test::PaintedNetwork>([this](const Planes&, Planes& alpha) {
                          for (std::size_t i = 0; i < alpha.values.size(); ++i) {
                              const auto x = float(i % std::size_t(alpha.size.width));
                              alpha.values[i] = x < share_ * float(alpha.size.width) ? 1.0F : 0.0F;
                          }
                      }),
                      {.networkLongestSide = 96},
                      ""};
    std::shared_ptr<const Image> shown_;
};

TEST_F(GuardedLive, APersonWhoWavesDoesNotMakeTheRoomBelievable) {
    for (std::uint64_t number = 0; number < 64; ++number) {
        ASSERT_EQ(show(person(number), number % 2 == 0 ? 0.4F : 1),
                  number % 2 == 0 ? MatteFault::none : MatteFault::everything)
            << number;
        ASSERT_EQ(nobody(), number % 2 == 1) << number;
    }
}

TEST_F(GuardedLive, GoesOnRefusingUntilThePictureChanges) {
    ASSERT_EQ(show(person(0), 0.4F), MatteFault::none);
    for (std::uint64_t number = 1; number < 30; ++number) {
        ASSERT_EQ(show(person(number), 1), MatteFault::everything) << number;
        ASSERT_TRUE(nobody());
    }
    EXPECT_EQ(show(person(30, -120), 1), MatteFault::none) << "the light went out";
}

TEST_F(GuardedLive, AnotherSizeOfTheInputIsNoChangeOfThePicture) {
    ASSERT_EQ(show(person(0), 0.4F), MatteFault::none);
    engine_.setNetworkLongestSide(48);
    EXPECT_EQ(show(person(1), 1), MatteFault::everything);
}

TEST_F(GuardedLive, AFailureInMidSourceDoesNotMakeTheRoomBelievable) {
    ASSERT_EQ(show(person(0), 0.4F), MatteFault::none);
    engine_.drop();
    EXPECT_EQ(show(person(1), 1), MatteFault::everything);
    EXPECT_TRUE(nobody());
}

TEST_F(GuardedLive, AnotherSourceBeginsAnew) {
    ASSERT_EQ(show(person(0), 0.4F), MatteFault::none);
    ASSERT_EQ(show(person(1), 1), MatteFault::everything);
    engine_.reset();
    EXPECT_EQ(show(person(2), 1), MatteFault::none);
}

}  // namespace
}  // namespace matte
