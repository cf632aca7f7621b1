// SPDX-License-Identifier: Apache-2.0
// A live matte between the network and the guided filter: held steady where nothing moves, and never behind a hand.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "inference/core/pixel_math.h"
#include "inference/core/synthetic_person.h"
#include "inference/matting/resample.h"
#include "inference/matting/temporal_filter.h"

namespace matte {
namespace {

constexpr Size kSize{384, 216};
constexpr float kTemporalSmoothing = 0.7F;

Planes plain(Size size, int channels, float value) {
    Planes planes(size, channels);
    std::ranges::fill(planes.values, value);
    return planes;
}

double meanDifference(const Planes& a, const Planes& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.values.size(); ++i) sum += std::abs(double(a.values[i]) - b.values[i]);
    return sum / double(a.values.size());
}

/// The synthetic person waving, with camera noise and a matte like a network's: the truth, blurred a little, with a
/// flicker of its own in each frame.
struct Waving {
    explicit Waving(std::uint64_t number) {
        Image frame(Size{640, 360}, PixelFormat::bgr8);
        person().drawFrame(number, frame);
        picture = resampleToPlanes(frame.view(), kSize);
        truth = Planes(kSize, 1);
        const Planes alpha = resampleToPlanes(person().alpha(number).view(), kSize);
        matte = truth;
        std::minstd_rand random(unsigned(number) + 1);
        std::normal_distribution<float> flicker(0, 0.02F);
        for (std::size_t i = 0; i < truth.values.size(); ++i) {
            truth.values[i] = alpha.values[3 * i];
            matte.values[i] = clampUnit(truth.values[i] + flicker(random));
        }
    }
    static const SyntheticPerson& person() {
        static const SyntheticPerson drawn({640, 360}, 32);
        return drawn;
    }
    Planes picture, truth, matte;
};

TEST(FollowRate, IsSlowWhereNothingMovedAndWholeWhereSomethingDid) {
    EXPECT_LT(followRate(0, 0, kTemporalSmoothing), 0.2F);
    EXPECT_LT(followRate(2.5F / 255, 0, kTemporalSmoothing), 0.2F) << "a camera's noise is no motion";
    EXPECT_EQ(followRate(9.0F / 255, 0, kTemporalSmoothing), 1);
    EXPECT_GT(followRate(0, 0, 1), 0) << "what the network insists on is shown in the end";
    for (const float change : {-0.1F, 0.1F}) {
        float before = 0;
        for (float motion = 0; motion < 0.04F; motion += 0.0001F) {
            const float rate = followRate(motion, change, kTemporalSmoothing);
            EXPECT_GE(rate, before);
            EXPECT_LT(rate - before, motion > 0 ? 0.15F : 1.0F) << "no jump at " << motion;
            before = rate;
        }
    }
    EXPECT_GT(followRate(2.0F / 255, 1, kTemporalSmoothing), followRate(2.0F / 255, 0, kTemporalSmoothing))
        << "what wants to change a lot needs less motion";
}

TEST(FollowRate, WhoComesNeedsLessMotionThanWhoGoes) {
    constexpr float kChange = 0.01F, kMotion = 1.5F / 255;
    EXPECT_GT(followRate(kMotion, kChange, kTemporalSmoothing), 3 * followRate(kMotion, -kChange, kTemporalSmoothing));
    EXPECT_EQ(followRate(0, kChange, kTemporalSmoothing), followRate(0, -kChange, kTemporalSmoothing))
        << "where nothing moves";
    float before = followRate(kMotion, -kChange, kTemporalSmoothing);
    for (float change = -kChange; change < kChange; change += 0.00005F) {
        const float rate = followRate(kMotion, change, kTemporalSmoothing);
        EXPECT_LT(std::abs(rate - before), 0.05F) << "no jump at " << change;
        before = rate;
    }
}

TEST(FollowRate, WithoutTemporalSmoothingItIsWholeAlways) {
    for (const float motion : {0.0F, 0.01F, 1.0F}) EXPECT_EQ(followRate(motion, 0, 0), 1);
    EXPECT_EQ(follow(0.3F, 0.7F, 1), 0.7F);
}

TEST(LetGo, DropsADimRestWhereNobodyIs) {
    EXPECT_EQ(fadeOut(0.2F, 0), 0);
    EXPECT_EQ(fadeOut(0.2F, 0.01F), 0.2F) << "somebody may be there";
    EXPECT_EQ(fadeOut(0.9F, 0), 0.9F) << "a person whom the network misses for a frame does not blink";
    EXPECT_EQ(fadeOut(0.001F, 0.001F), 0.001F);
    float before = fadeOut(0, 0);
    for (float filtered = 0; filtered < 1; filtered += 0.001F) {
        EXPECT_NEAR(fadeOut(filtered, 0), before, 0.01F) << "no jump at " << filtered;
        before = fadeOut(filtered, 0);
    }
}

TEST(MotionOf, IsTheLargestChangeOfAChannelAndEverythingWhenNothingIsKnown) {
    const float color[3] = {0.5F, 0.4F, 0.3F}, redder[3] = {0.6F, 0.35F, 0.3F}, unknown[3] = {kForgotten};
    EXPECT_FLOAT_EQ(motionOf(color, redder), 0.1F);
    EXPECT_EQ(motionOf(color, color), 0);
    EXPECT_EQ(motionOf(color, unknown), 1);
}

TEST(MotionBlur, KeepsWhatIsPlain) {
    float sum = motionBlurWeight(0);
    for (int d = 1; d <= kMotionBlurRadius; ++d) sum += 2 * motionBlurWeight(d);
    EXPECT_NEAR(sum, 1, 1e-5);
}

TEST(TemporalFilter, TheFirstFrameStaysAsItIs) {
    TemporalFilter filtered;
    Waving first(3);
    const Planes before = first.matte;
    filtered.apply(first.picture, kTemporalSmoothing, first.matte);
    EXPECT_EQ(first.matte.values, before.values);
}

TEST(TemporalFilter, ZeroIsExactlyOff) {
    TemporalFilter temporal;
    for (std::uint64_t number = 0; number < 4; ++number) {
        Waving frame(number);
        const Planes before = frame.matte;
        temporal.apply(frame.picture, 0, frame.matte);
        EXPECT_EQ(frame.matte.values, before.values);
    }
}

TEST(TemporalFilter, FlickerInAStillPictureGoes) {
    TemporalFilter temporal;
    Planes before;
    double raw = 0, held = 0;
    Planes unsteady;
    for (std::uint64_t number = 0; number < 40; ++number) {
        Waving frame(7);
        std::minstd_rand random(unsigned(number) + 99);
        std::normal_distribution<float> flicker(0, 0.05F);
        for (float& alpha : frame.matte.values) alpha = clampUnit(0.5F + flicker(random));
        const Planes now = frame.matte;
        temporal.apply(frame.picture, kTemporalSmoothing, frame.matte);
        if (number > 10) {
            raw += meanDifference(now, unsteady);
            held += meanDifference(frame.matte, before);
        }
        unsteady = now;
        before = frame.matte;
    }
    std::printf("change from frame to frame: %.4f, held steady %.4f\n", raw / 29, held / 29);
    EXPECT_LT(held, 0.2 * raw);
}

TEST(TemporalFilter, AMovingHandLeavesNoTrail) {
    // Where the person moved, alpha must be as near to the truth as without; all else is only steadier.
    TemporalFilter temporal;
    double raw = 0, held = 0, flicker = 0, heldFlicker = 0;
    int count = 0;
    Planes lastTruth, lastRaw, lastHeld;
    for (std::uint64_t number = 0; number < 32; ++number) {
        Waving frame(number);
        const Planes unsteady = frame.matte;
        temporal.apply(frame.picture, kTemporalSmoothing, frame.matte);
        for (std::size_t i = 0; number > 4 && i < unsteady.values.size(); ++i) {
            const double truth = frame.truth.values[i];
            if (std::abs(truth - lastTruth.values[i]) > 0.1) {
                raw += std::abs(unsteady.values[i] - truth);
                held += std::abs(frame.matte.values[i] - truth);
                ++count;
            } else {
                flicker += std::abs(unsteady.values[i] - lastRaw.values[i]);
                heldFlicker += std::abs(frame.matte.values[i] - lastHeld.values[i]);
            }
        }
        lastTruth = frame.truth;
        lastRaw = unsteady;
        lastHeld = frame.matte;
    }
    ASSERT_GT(count, 1000);
    std::printf("error of alpha where the person moved: %.7f, held steady %.7f; flicker elsewhere to %.2f of it\n",
                raw / count, held / count, heldFlicker / flicker);
    EXPECT_LE(held / count, raw / count + 1e-6) << "no worse than without, to a millionth of alpha";
    EXPECT_LT(heldFlicker, 0.5 * flicker);
}

TEST(TemporalFilter, NoDimRestStaysWhereNobodyIs) {
    // A light that passes makes the network see a little of a person; once that is over, nothing moves any more.
    TemporalFilter temporal;
    const Planes picture = plain(kSize, 3, 0.5F);
    Planes matte = plain(kSize, 1, 0.2F);
    temporal.apply(picture, kTemporalSmoothing, matte);
    for (int i = 0; i < 2; ++i) {
        std::ranges::fill(matte.values, 0.0F);
        temporal.apply(picture, kTemporalSmoothing, matte);
        for (const float alpha : matte.values) EXPECT_EQ(alpha, 0);
    }
}

TEST(TemporalFilter, SlowMotionAddsUp) {
    // A bright edge creeps by a twentieth of a pixel a frame: no two frames differ by what counts as motion.
    TemporalFilter temporal;
    double worst = 0;
    for (int number = 0; number < 200; ++number) {
        Planes picture(kSize, 3), matte(kSize, 1), truth(kSize, 1);
        for (int y = 0; y < kSize.height; ++y) {
            for (int x = 0; x < kSize.width; ++x) {
                const float alpha = clampUnit(160 + 0.05F * float(number) - float(x));
                truth.row(y)[x] = matte.row(y)[x] = alpha;
                for (int c = 0; c < 3; ++c) picture.row(y)[3 * x + c] = 0.3F + 0.4F * alpha;
            }
        }
        temporal.apply(picture, kTemporalSmoothing, matte);
        worst = std::max(worst, meanDifference(matte, truth) * kSize.width);
    }
    std::printf("a creeping edge is behind by at most %.3f pixels\n", worst);
    EXPECT_LT(worst, 0.35);
}

TEST(TemporalFilter, ACutForgetsEverything) {
    TemporalFilter temporal;
    for (int i = 0; i < 3; ++i) {
        Planes picture = plain(kSize, 3, 0.2F), matte = plain(kSize, 1, 1);
        temporal.apply(picture, kTemporalSmoothing, matte);
    }
    // The middle happens to be as bright as before, and must not keep its person.
    Planes picture = plain(kSize, 3, 0.8F), matte = plain(kSize, 1, 0);
    for (int y = 40; y < 110; ++y) std::fill_n(picture.row(y) + 3 * 60, 3 * 90, 0.2F);
    temporal.apply(picture, kTemporalSmoothing, matte);
    for (const float alpha : matte.values) EXPECT_EQ(alpha, 0);
}

TEST(TemporalFilter, AnotherSizeBeginsAnew) {
    TemporalFilter temporal;
    Planes picture = plain(kSize, 3, 0.5F), matte = plain(kSize, 1, 1);
    temporal.apply(picture, kTemporalSmoothing, matte);
    Planes smaller = plain({3, 2}, 3, 0.5F), other = plain({3, 2}, 1, 0.25F);
    temporal.apply(smaller, kTemporalSmoothing, other);
    for (const float alpha : other.values) EXPECT_EQ(alpha, 0.25F);
    temporal.reset();
    std::ranges::fill(other.values, 0.75F);
    temporal.apply(smaller, kTemporalSmoothing, other);
    for (const float alpha : other.values) EXPECT_EQ(alpha, 0.75F);
}

}  // namespace
}  // namespace matte
