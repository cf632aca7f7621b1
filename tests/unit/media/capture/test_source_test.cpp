// SPDX-License-Identifier: Apache-2.0
// The synthetic person: its alpha is the truth about its frames, and they come as a camera's would.
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <gtest/gtest.h>

#include "inference/core/error.h"
#include "inference/core/pixel_math.h"
#include "inference/media/frame_convert.h"
#include "inference/media/synthetic/test_source.h"
#include "tests/support/running/eventually.h"

namespace matte {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

bool equal(const Image& a, const Image& b) {
    return a.size() == b.size() && a.format() == b.format() && std::memcmp(a.row(0), b.row(0), a.bytes()) == 0;
}

TEST(SyntheticPerson, FramesAreTheCutoutOverTheRoom) {
    const Size size{320, 180};
    const SyntheticPerson person(size, 32, 0);
    Image frame(size, PixelFormat::bgr8);
    person.drawFrame(9, frame);
    const Image cutout = person.cutout(9);
    int soft = 0;
    for (int y = 0; y < size.height; ++y) {
        for (int x = 0; x < size.width; ++x) {
            const std::uint8_t* p = cutout.row(y) + std::ptrdiff_t(x) * 4;
            soft += p[3] > 0 && p[3] < 255;
            for (int c = 0; c < 3; ++c) {
                const float share = float(p[3]) / 255;
                const float light = share * srgbToLinear(float(p[2 - c]) / 255) +
                                    (1 - share) * srgbToLinear(float(person.room().row(y)[x * 3 + c]) / 255);
                ASSERT_NEAR(frame.row(y)[x * 3 + c], linearToSrgb(light) * 255, 0.51) << x << ", " << y;
            }
        }
    }
    EXPECT_GT(soft, 300) << "the hair has no fringe";
}

TEST(SyntheticPerson, AlphaIsTheCutoutsAndMakesSense) {
    for (const Size size : {Size{320, 180}, Size{180, 320}, Size{17, 33}, Size{16, 16}}) {
        const SyntheticPerson person(size, 8);
        const Image alpha = person.alpha(3), cutout = person.cutout(3);
        double sum = 0;
        for (int y = 0; y < size.height; ++y) {
            for (int x = 0; x < size.width; ++x) {
                ASSERT_EQ(alpha.row(y)[x], cutout.row(y)[x * 4 + 3]);
                sum += alpha.row(y)[x] / 255.0;
            }
        }
        const double share = sum / double(size.pixels());
        EXPECT_GT(share, 0.1) << size.width;
        EXPECT_LT(share, 0.7) << size.width;
        EXPECT_EQ(alpha.row(0)[0], 0);
        EXPECT_GT(alpha.row(size.height - 1)[size.width / 2], 250) << "the chest reaches the bottom";
    }
}

TEST(SyntheticPerson, IsTheSameForTheSameNumberAndMovesBetween) {
    const Size size{320, 180};
    const SyntheticPerson person(size, 32), again(size, 32);
    Image a(size, PixelFormat::bgr8), b(size, PixelFormat::bgr8);
    person.drawFrame(5, a);
    again.drawFrame(5 + 32, b);
    EXPECT_TRUE(equal(a, b));
    again.drawFrame(6, b);
    EXPECT_FALSE(equal(a, b));
    // The hand is fast: in two frames it leaves its own place.
    const Image before = person.alpha(0), after = person.alpha(2);
    int changed = 0;
    for (int y = 0; y < size.height; ++y) {
        for (int x = 0; x < size.width; ++x) changed += std::abs(before.row(y)[x] - after.row(y)[x]) > 128;
    }
    EXPECT_GT(changed, 200);
}

TEST(SyntheticPerson, NoiseHasItsStrength) {
    const Size size{256, 144};
    const SyntheticPerson person(size, 4, 3);
    Image frame(size, PixelFormat::bgr8);
    person.drawFrame(1, frame);
    const Image alpha = person.alpha(1);
    double sum = 0, squares = 0, count = 0;
    for (int y = 0; y < size.height; ++y) {
        for (int x = 0; x < size.width; ++x) {
            if (alpha.row(y)[x] != 0) continue;
            const double difference = frame.row(y)[x * 3] - person.room().row(y)[x * 3];
            sum += difference;
            squares += difference * difference;
            ++count;
        }
    }
    EXPECT_NEAR(sum / count, 0, 0.2);
    EXPECT_NEAR(std::sqrt(squares / count), 3, 0.3);
}

TEST(SyntheticPerson, RefusesAnotherPicture) {
    const SyntheticPerson person({32, 32}, 4);
    Image frame({32, 33}, PixelFormat::bgr8);
    EXPECT_THROW(person.drawFrame(0, frame), Error);
}

TEST(TestSource, CountsAndGivesTheDrawnFrames) {
    TestSource source({64, 48}, kUnthrottled, {});
    const SyntheticPerson person({64, 48}, loopFrames({64, 48}));
    Image drawn({64, 48}, PixelFormat::bgr8);
    for (std::uint64_t n = 0; n < 70; ++n) {
        const auto frame = source.read({});
        ASSERT_TRUE(frame);
        ASSERT_EQ(frame->number, n);
        person.drawFrame(n, drawn);
        ASSERT_TRUE(equal(*frame->image, drawn)) << n;
    }
    EXPECT_TRUE(equal(source.alpha(69), person.alpha(69)));
    EXPECT_EQ(source.info().rate, 0);
    EXPECT_EQ(source.info().size, (Size{64, 48}));
}

TEST(TestSource, GivesNoFrameBeforeItIsDue) {
    TestSource source({64, 48}, 100, {});
    const auto first = source.read({});
    ASSERT_TRUE(first);
    for (int i = 0; i < 20; ++i) {
        const auto frame = source.read({});
        ASSERT_TRUE(frame);
        EXPECT_NEAR(Seconds(frame->captured - first->captured).count(), double(frame->number) / 100, 1e-8);
        EXPECT_LE(frame->captured, Clock::now());
    }
}

/// At that rate every reader is late now and then.
TEST(TestSource, LeavesOutWhatIsLate) {
    TestSource source({64, 48}, 1e6, {});
    const auto first = source.read({});
    ASSERT_TRUE(first);
    auto last = first;
    EXPECT_TRUE(test::eventually([&] {
        const std::uint64_t before = last->number;
        last = source.read({});
        return last->number > before + 10;
    }));
    EXPECT_NEAR(Seconds(last->captured - first->captured).count(), double(last->number) / 1e6, 1e-8);
    EXPECT_LE(last->captured, Clock::now());
}

/// The next frame is due in an hour.
TEST(TestSource, ReadingEndsWhenItIsAskedTo) {
    TestSource source({64, 48}, 1.0 / 3600, {});
    ASSERT_TRUE(source.read({}));
    std::stop_source stop;
    const std::jthread asker([&] { stop.request_stop(); });
    EXPECT_FALSE(source.read(stop.get_token()));
}

TEST(TestSource, ItsLoopIsBounded) {
    EXPECT_EQ(loopFrames({640, 480}), 32);
    EXPECT_EQ(loopFrames({1920, 1080}), 32);
    for (const Size size : {Size{3840, 2160}, Size{2560, 1440}}) {
        EXPECT_LE(packedBytes(PixelFormat::bgr8, size) * std::size_t(loopFrames(size)), 256U << 20);
    }
    EXPECT_GE(loopFrames({7680, 4320}), 2);
}

/// YUV frames say the same as the bgr8 ones, but for the colour that pixels share.
TEST(TestSource, SendsYuvAsCamerasDo) {
    for (const Encoding encoding : {Encoding::nv12, Encoding::yuyv}) {
        CaptureSettings settings;
        settings.encoding = encoding;
        const Size size{63, 47};
        TestSource source(size, kUnthrottled, settings);
        const auto frame = source.read({});
        EXPECT_EQ(source.info().format, nameOf(encoding));
        const Image& yuv = *frame->image;
        ASSERT_EQ(yuv.format(), frameFormat(encoding));
        Image bgr(size, PixelFormat::bgr8);
        SyntheticPerson(size, loopFrames(size)).drawFrame(0, bgr);
        double off = 0;
        for (int y = 0; y < size.height; ++y) {
            for (int x = 0; x < size.width; ++x) {
                const bool nv12 = encoding == Encoding::nv12;
                const std::uint8_t* chroma =
                    nv12 ? yuv.row(size.height + y / 2) + x / 2 * 2 : yuv.row(y) + x / 2 * 4 + 1;
                const Color color = yuvToRgb(yuv.row(y)[nv12 ? x : x * 2], chroma[0], chroma[nv12 ? 1 : 2]);
                off += std::abs(color.g - bgr.row(y)[x * 3 + 1]);
            }
        }
        EXPECT_LT(off / double(size.pixels()), 4) << nameOf(encoding);
    }
    CaptureSettings odd;
    odd.encoding = Encoding::h264;
    EXPECT_THROW(TestSource({64, 48}, 30, odd), Error);
}

}  // namespace
}  // namespace matte
