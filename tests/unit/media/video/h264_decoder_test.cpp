// SPDX-License-Identifier: Apache-2.0
// H264 cameras: every frame in its order, nothing that hangs, and a sentence for what can't be decoded.
#include <algorithm>
#include <cmath>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "inference/core/error.h"
#include "inference/media/capture/camera_reader.h"
#include "inference/media/video/h264_decoder.h"
#include "tests/support/files/h264_clip.h"
#include "tests/support/running/eventually.h"
#include "tests/support/running/paced.h"

namespace matte {
namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<std::uint8_t>;
using Clock = std::chrono::steady_clock;

constexpr Size kSize{320, 240};
constexpr int kFrames = 60;
const Bytes kBroken{0, 0, 0, 1, 0x67, 1, 2, 3, 0, 0, 0, 1, 0x65, 0xff, 0xff};

/// Encoded once; empty where OpenCV has no encoder.
const std::vector<Bytes>& clip() {
    static const std::vector<Bytes> units = test::h264Clip(kSize, kFrames);
    return units;
}

int levelOf(const Image& image) {
    return image.row(kSize.height / 2)[kSize.width / 2 * 3];
}

/// What comes out. The frames themselves are let go: the decoder has only some.
struct Screen {
    std::mutex mutex;
    std::vector<std::uint64_t> numbers;
    std::vector<int> levels;
    int failures = 0;
    H264Decoder decoder{{},
                        [this](const Frame& frame) {
                            const std::lock_guard lock(mutex);
                            numbers.push_back(frame.number);
                            levels.push_back(levelOf(*frame.image));
                            EXPECT_EQ(frame.image->size(), kSize);
                        },
                        [this] {
                            const std::lock_guard lock(mutex);
                            ++failures;
                        }};
    std::size_t count() {
        const std::lock_guard lock(mutex);
        return numbers.size();
    }
};

struct H264 : ::testing::Test {
    void SetUp() override {
        if (clip().empty()) GTEST_SKIP() << "OpenCV can't encode H264 here";
        ASSERT_EQ(clip().size(), std::size_t(kFrames));
    }
};

// FFmpeg puts them into their order, for which it holds some back; the clip goes round and round.
TEST_F(H264, GivesEveryFrameWithItsNumber) {
    Screen screen;
    for (std::size_t i = 0; i < 2 * clip().size(); ++i) {
        // It leaves out what waits behind 30 others, and holds some back.
        ASSERT_TRUE(test::eventually([&] { return i < screen.count() + 24; }));
        screen.decoder.put(clip()[i % clip().size()], 100 + i, Clock::now());
    }
    ASSERT_TRUE(test::eventually([&] { return screen.count() >= 100; }));
    const std::lock_guard lock(screen.mutex);
    std::vector<std::uint64_t> numbers = screen.numbers;
    std::ranges::sort(numbers);
    for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(numbers[i], 100 + i);
    for (std::size_t i = 0; i < 60; ++i) {
        EXPECT_NEAR(screen.levels[i], screen.levels[0] + 2 * int(i), 1.5) << "the frames are in the order of the clip";
    }
    EXPECT_EQ(screen.failures, 0);
}

TEST_F(H264, WaitsForAKeyFrame) {
    Screen screen;
    for (std::size_t i = 1; i < 30; ++i) screen.decoder.put(clip()[i], i, Clock::now());
    for (std::size_t i = 0; i < clip().size(); ++i) {
        ASSERT_TRUE(test::eventually([&] { return i < screen.count() + 24; }));
        screen.decoder.put(clip()[i], 100 + i, Clock::now());
    }
    ASSERT_TRUE(test::eventually([&] { return screen.count() >= 30; }));
    const std::lock_guard lock(screen.mutex);
    for (const std::uint64_t number : screen.numbers) EXPECT_GE(number, 100U) << "of before the key frame";
}

/// Through the reader, as cameras use it: pictures of the right grey, in time, and an end at any moment.
TEST_F(H264, ACameraThatSendsNothingElseCanBeRead) {
    CameraReader reader("Cam", {Encoding::h264, kSize, 30}, {});
    reader.setFormat({Encoding::h264, kSize, 30});
    const std::jthread camera = test::every(
        33ms, [&, i = std::size_t(0)]() mutable { reader.deliver(clip()[i++ % clip().size()], 0, Clock::now()); });
    for (int i = 0; i < 40; ++i) {
        const auto frame = reader.read({});
        ASSERT_TRUE(frame);
        ASSERT_EQ(frame->image->format(), PixelFormat::bgr8);
        ASSERT_EQ(frame->image->size(), kSize);
        // A number is that of its unit, which comes some places earlier or later than its frame.
        const int shown = (levelOf(*frame->image) - 20) / 2, number = int(frame->number % kFrames);
        const int apart = std::abs(shown - number);
        EXPECT_LE(std::min(apart, kFrames - apart), 4) << shown << " and " << number;
    }
    EXPECT_EQ(reader.info().format, "H264");
}

TEST_F(H264, ADamagedStreamEndsNothing) {
    Screen screen;
    Bytes noise(5000);
    for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = std::uint8_t(i * 131 + i / 7);
    std::size_t next = 0;
    EXPECT_TRUE(test::eventually([&] {
        Bytes unit = clip()[next % clip().size()];
        if (next % 7 == 3) unit = noise;
        if (next % 7 == 5) unit.resize(unit.size() / 2);
        screen.decoder.put(unit, next++, Clock::now());
        return screen.count() >= 10;
    }));
}

/// A decoder that waited for more would never end.
TEST(H264Decoder, EndsWhateverItWaitsFor) {
    { const Screen screen; }  // for the first unit
    {
        Screen screen;
        screen.decoder.put(kBroken, 0, Clock::now());
    }
    if (clip().empty()) return;
    {
        Screen screen;
        screen.decoder.put(clip()[0], 0, Clock::now());
    }
    {
        Screen screen;
        screen.decoder.put(kBroken, 0, Clock::now());
        for (std::size_t i = 0; i < 24; ++i) screen.decoder.put(clip()[i], i, Clock::now());
        EXPECT_TRUE(test::eventually([&] { return screen.count() > 0; }));  // what is broken is behind it
    }
}

TEST(H264Decoder, WhatIsNoH264IsALoss) {
    CameraReader reader("Cam", {Encoding::h264, kSize, 30}, {});
    reader.setFormat({Encoding::h264, kSize, 30});
    const std::jthread camera = test::every(10ms, [&] { reader.deliver(kBroken, 0, Clock::now()); });
    try {
        while (reader.read({})) continue;
        ADD_FAILURE() << "it ended";
    } catch (const Error& error) {
        EXPECT_EQ(error.category, ErrorCategory::source);
        const std::string sentence = error.what();
        EXPECT_TRUE(sentence.find("can't be decoded") != std::string::npos ||
                    sentence.find("come damaged") != std::string::npos)
            << sentence;
    }
}

}  // namespace
}  // namespace matte
