// SPDX-License-Identifier: Apache-2.0
// H264 cameras: every frame in its order, nothing that hangs, and a sentence for what can't be decoded.
#include <cmath>
#include <future>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>
#include <opencv2/videoio.hpp>

#include "inference/error.h"
#include "inference/io/camera_reader.h"
#include "inference/io/h264_decoder.h"
#include "inference/io/video_source.h"
#include "tests/support/h264_clip.h"
#include "tests/support/server.h"

namespace matte {
namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<std::uint8_t>;
using Clock = std::chrono::steady_clock;

constexpr Size kSize{320, 240};
constexpr int kFrames = 60;

/// Encoded once; empty where OpenCV has no encoder.
const std::vector<Bytes>& clip() {
    static const std::vector<Bytes> units = test::h264Clip(kSize, kFrames);
    return units;
}

/// What comes out. The frames themselves are let go: the decoder has only some.
struct Screen {
    std::mutex mutex;
    std::vector<std::uint64_t> numbers;
    int failures = 0;
    H264Decoder decoder{{},
                        [this](const Frame& frame) {
                            const std::lock_guard lock(mutex);
                            numbers.push_back(frame.number);
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

template <typename Condition>
bool soon(Condition condition) {
    for (const auto end = Clock::now() + 20s; Clock::now() < end;) {
        if (condition()) return true;
        std::this_thread::sleep_for(1ms);
    }
    return false;
}

int levelOf(const Image& image) {
    return image.row(kSize.height / 2)[kSize.width / 2 * 3];
}

struct H264 : ::testing::Test {
    void SetUp() override {
        if (clip().empty()) GTEST_SKIP() << "OpenCV can't encode H264 here";
        ASSERT_EQ(clip().size(), std::size_t(kFrames));
    }
};

/// The first frame is what opening takes; every later one comes out, with the number that it was put with.
TEST_F(H264, GivesEveryFrameWithItsNumber) {
    Screen screen;
    std::uint64_t number = 100;
    const auto put = [&](const Bytes& unit) { screen.decoder.put(unit, number++, Clock::now()); };
    put(clip()[0]);
    std::size_t next = 1;
    // The decoder holds some back until more come: the clip goes round and round.
    ASSERT_TRUE(soon([&] {
        put(clip()[next]);
        next = (next + 1) % clip().size();
        std::this_thread::sleep_for(5ms);
        return screen.count() >= 20;
    }));
    const std::lock_guard lock(screen.mutex);
    EXPECT_EQ(screen.numbers[0], 101U);
    for (std::size_t i = 0; i + 1 < screen.numbers.size(); ++i) {
        EXPECT_EQ(screen.numbers[i + 1], screen.numbers[i] + 1);
    }
    EXPECT_EQ(screen.failures, 0);
}

TEST_F(H264, WaitsForAKeyFrame) {
    Screen screen;
    for (std::size_t i = 1; i < 30; ++i) screen.decoder.put(clip()[i], i, Clock::now());
    std::this_thread::sleep_for(100ms);
    EXPECT_EQ(screen.count(), 0U);
}

/// Through the reader, as cameras use it: pictures of the right grey, in time, and an end at any moment.
TEST_F(H264, ACameraThatSendsNothingElseCanBeRead) {
    CameraReader reader("Cam", {Encoding::h264, kSize, 30}, {});
    reader.setFormat({Encoding::h264, kSize, 30});
    const std::jthread camera([&](const std::stop_token& stop) {
        for (std::size_t i = 0; !stop.stop_requested(); ++i) {
            reader.deliver(clip()[i % clip().size()], 0, Clock::now());
            std::this_thread::sleep_for(33ms);
        }
    });
    for (int i = 0; i < 40; ++i) {
        const auto frame = reader.read({});
        ASSERT_TRUE(frame);
        ASSERT_EQ(frame->image->format(), PixelFormat::bgr8);
        ASSERT_EQ(frame->image->size(), kSize);
        // The decoder puts frames into their order, by up to a few places from that of the units.
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
    EXPECT_TRUE(soon([&] {
        Bytes unit = clip()[next % clip().size()];
        if (next % 7 == 3) unit = noise;
        if (next % 7 == 5) unit.resize(unit.size() / 2);
        screen.decoder.put(unit, next++, Clock::now());
        std::this_thread::sleep_for(5ms);
        return screen.count() >= 10;
    }));
}

TEST(H264Decoder, EndsAtOnceWhateverItWaitsFor) {
    const auto begin = Clock::now();
    {
        const Screen screen;  // for the first unit; meanwhile nobody else has to wait
        std::this_thread::sleep_for(20ms);
        EXPECT_FALSE(cv::VideoCapture("no such file.mp4", cv::CAP_FFMPEG).isOpened());
    }
    {
        Screen screen;
        if (!clip().empty()) screen.decoder.put(clip()[0], 0, Clock::now());  // for FFmpeg to look at it
    }
    {
        Screen screen;
        const Bytes broken{0, 0, 0, 1, 0x67, 1, 2, 3, 0, 0, 0, 1, 0x65, 0xff, 0xff};
        screen.decoder.put(broken, 0, Clock::now());
        std::this_thread::sleep_for(50ms);
    }
    EXPECT_LT(Clock::now() - begin, 10s);
}

/// While OpenCV opens one video no other one can be opened: a decoder that wants to must not be waited for.
TEST_F(H264, ItsEndDoesNotWaitForAnAddressThatIsStillOpening) {
    std::future<void> opening;
    {
        test::Server server({}, false);
        opening = std::async(std::launch::async, [address = server.address()] {
            EXPECT_THROW(openAddress(address, {}, {}, {.open = 20s}), Error);
        });
        server.waitForClient();
        {
            Screen screen;
            screen.decoder.put(clip()[0], 0, Clock::now());
            std::this_thread::sleep_for(200ms);  // for it to reach OpenCV
        }
        EXPECT_EQ(opening.wait_for(1s), std::future_status::timeout) << "the decoder's end waited for the address";
    }
    opening.wait();
}

TEST(H264Decoder, WhatIsNoH264IsALoss) {
    CameraReader reader("Cam", {Encoding::h264, kSize, 30}, {});
    reader.setFormat({Encoding::h264, kSize, 30});
    const std::jthread camera([&](const std::stop_token& stop) {
        const Bytes broken{0, 0, 0, 1, 0x67, 1, 2, 3, 0, 0, 0, 1, 0x65, 0xff, 0xff};
        while (!stop.stop_requested()) {
            reader.deliver(broken, 0, Clock::now());
            std::this_thread::sleep_for(10ms);
        }
    });
    try {
        while (reader.read({})) continue;
        ADD_FAILURE() << "it ended";
    } catch (const Error& error) {
        EXPECT_EQ(error.area, Area::source);
        const std::string sentence = error.what();
        EXPECT_TRUE(sentence.find("can't be decoded") != std::string::npos ||
                    sentence.find("come damaged") != std::string::npos)
            << sentence;
    }
}

}  // namespace
}  // namespace matte
