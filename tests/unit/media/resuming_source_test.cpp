// SPDX-License-Identifier: Apache-2.0
// A source that is lost comes back by itself, people are told once, and the numbers go on.
#include <chrono>
#include <deque>
#include <functional>
#include <future>
#include <latch>
#include <thread>

#include <gtest/gtest.h>

#include "inference/core/error.h"
#include "inference/media/resuming_source.h"
#include "tests/support/running/paced.h"

namespace matte {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// Gives so many frames, then throws, or ends.
class ShortSource : public FrameSource {
public:
    ShortSource(int frames, std::optional<Error> then) : left_(frames), then_(std::move(then)) {}
    std::optional<Frame> read(std::stop_token stop) override {
        if (stop.stop_requested()) return std::nullopt;
        if (left_-- > 0) return Frame{std::make_shared<Image>(Size{2, 2}, PixelFormat::bgr8), number_++, Clock::now()};
        if (then_) throw *then_;
        return std::nullopt;
    }
    [[nodiscard]] SourceInfo info() const override { return {"short", {2, 2}, 30, true, "BGR"}; }

private:
    int left_;
    std::uint64_t number_ = 0;
    std::optional<Error> then_;
};

Error gone(const char* sentence = "It was unplugged.") {
    return {ErrorCategory::source, sentence};
}

/// Answers each attempt to open with the next of a list, and keeps what people are told.
struct Script {
    std::deque<std::function<std::unique_ptr<FrameSource>()>> answers;
    std::vector<std::string> told;
    std::vector<Clock::time_point> attempts;
    ResumingSource::Delay delay = [](std::chrono::milliseconds) { return 1ms; };

    void frames(int count, const std::optional<Error>& then) {
        answers.emplace_back([=] { return std::make_unique<ShortSource>(count, then); });
    }
    void refusal(const Error& error) {
        answers.emplace_back([=]() -> std::unique_ptr<FrameSource> { throw error; });
    }
    ResumingSource source() {
        return ResumingSource(
            [this](const std::stop_token&) {
                attempts.push_back(Clock::now());
                const auto answer = answers.front();
                answers.pop_front();
                return answer();
            },
            [this](const std::string& sentence) { told.push_back(sentence); }, delay);
    }
};

TEST(ResumingSource, GoesOnAfterALossAndTellsOnce) {
    Script script;
    script.frames(3, gone());
    script.refusal(gone());
    script.refusal(gone("It is busy."));
    script.frames(2, std::nullopt);
    auto source = script.source();
    for (std::uint64_t n = 0; n < 5; ++n) {
        const auto frame = source.read({});
        ASSERT_TRUE(frame);
        EXPECT_EQ(frame->number, n);
    }
    EXPECT_FALSE(source.read({})) << "the source's own end is the end";
    EXPECT_EQ(script.told, (std::vector<std::string>{"It was unplugged.", "It is busy.", ""}));
}

TEST(ResumingSource, WaitsForASourceThatIsNotThereYet) {
    Script script;
    script.refusal(gone("There is no camera."));
    script.frames(1, std::nullopt);
    auto source = script.source();
    EXPECT_EQ(source.info().name, "");
    EXPECT_TRUE(source.read({}));
    EXPECT_EQ(source.info().name, "short");
    EXPECT_EQ(script.told, (std::vector<std::string>{"There is no camera.", ""}));
}

TEST(ResumingSource, TriesSoonAndThenEverySecond) {
    std::vector<std::chrono::milliseconds> pauses{retryDelay(0ms)};
    while (pauses.size() < 5) pauses.push_back(retryDelay(pauses.back()));
    EXPECT_EQ(pauses, (std::vector{125ms, 250ms, 500ms, 1000ms, 1000ms}));
}

TEST(ResumingSource, APauseFollowsFromTheOneBeforeAndTheFirstFromNone) {
    Script script;
    std::vector<std::chrono::milliseconds> before;
    script.delay = [&](std::chrono::milliseconds last) {
        before.push_back(last);
        return last + 20ms;
    };
    for (int i = 0; i < 3; ++i) script.refusal(gone());
    script.frames(1, gone());
    script.refusal(gone());
    script.frames(1, std::nullopt);
    auto source = script.source();
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(source.read({}));
    EXPECT_EQ(before, (std::vector{0ms, 20ms, 40ms, 0ms, 20ms}));
    const std::vector<std::size_t> after{0, 1, 2, 3, 4};  // an attempt follows each pause
    for (const std::size_t i : after) EXPECT_GE(script.attempts[i + 1] - script.attempts[i], before[i] + 20ms) << i;
}

TEST(ResumingSource, AReturnEndsThePause) {
    Script script;
    script.delay = [](std::chrono::milliseconds) { return 1h; };
    for (int i = 0; i < 5; ++i) script.refusal(gone());
    script.frames(1, std::nullopt);
    auto source = script.source();
    const std::jthread plugger = test::every(5ms, [&] { source.retryNow(); });
    EXPECT_TRUE(source.read({}));
    EXPECT_EQ(script.attempts.size(), 6U);
}

TEST(ResumingSource, StopsWhileItWaits) {
    std::promise<void> waits;
    int attempts = 0;
    ResumingSource source(
        [&](const std::stop_token&) -> std::unique_ptr<FrameSource> {
            ++attempts;
            throw gone();
        },
        nullptr,
        [&](std::chrono::milliseconds) {
            waits.set_value();  // a second attempt would end the test
            return 1h;
        });
    std::stop_source stop;
    const std::jthread asker([&] {
        waits.get_future().wait();
        stop.request_stop();
    });
    EXPECT_FALSE(source.read(stop.get_token()));
    EXPECT_EQ(attempts, 1);
}

TEST(ResumingSource, StopsWhileTheSourceStarts) {
    std::promise<void> starts;
    ResumingSource source(
        [&](const std::stop_token& stop) -> std::unique_ptr<FrameSource> {
            std::latch stopped(1);
            const std::stop_callback wake(stop, [&] { stopped.count_down(); });
            starts.set_value();
            stopped.wait();
            throw Cancelled{};
        },
        nullptr);
    std::stop_source stop;
    const std::jthread asker([&] {
        starts.get_future().wait();
        stop.request_stop();
    });
    EXPECT_FALSE(source.read(stop.get_token()));
}

TEST(ResumingSource, WhatIsNoLossIsThrown) {
    Script script;
    script.frames(1, Error(ErrorCategory::input, "The video changes its size."));
    auto source = script.source();
    ASSERT_TRUE(source.read({}));
    EXPECT_THROW((void)source.read({}), Error);
    script.refusal(Error(ErrorCategory::usage, "No such camera format."));
    auto other = script.source();
    EXPECT_THROW((void)other.read({}), Error);
    EXPECT_TRUE(script.told.empty());
}

}  // namespace
}  // namespace matte
