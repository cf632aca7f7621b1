// SPDX-License-Identifier: Apache-2.0
// A source that hangs in opening, reading or closing holds nobody up, and ends once it can.
#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "inference/core/error.h"
#include "inference/media/frame_source.h"
#include "inference/pipeline/pipeline.h"
#include "tests/support/engines/scripted_live.h"
#include "tests/support/running/eventually.h"

namespace matte {
namespace {

using namespace std::chrono_literals;
using test::eventually;

/// What a network does: nothing, until it is let.
class Gate {
public:
    void open() {
        {
            const std::lock_guard lock(mutex_);
            isOpen_ = true;
        }
        changed_.notify_all();
    }
    void pass() {
        std::unique_lock lock(mutex_);
        ++waiting_;
        changed_.notify_all();
        changed_.wait(lock, [this] { return isOpen_; });
    }
    /// Until so many calls are in pass(), or were.
    void awaitWaiting(int count) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return waiting_ >= count; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool isOpen_ = false;
    int waiting_ = 0;
};

/// Shared with threads that are left behind.
struct Network {
    Gate opening, reading, closing;
    std::atomic<int> alive = 0;
    std::atomic<bool> toldToEnd = false;
};

class SlowSource : public FrameSource {
public:
    explicit SlowSource(std::shared_ptr<Network> network) : network_(std::move(network)) { ++network_->alive; }
    ~SlowSource() override {
        network_->closing.pass();
        --network_->alive;
    }
    SlowSource(const SlowSource&) = delete;
    SlowSource& operator=(const SlowSource&) = delete;
    std::optional<Frame> read(std::stop_token stop) override {
        network_->reading.pass();
        network_->toldToEnd = stop.stop_requested();
        if (number_ == 2) return std::nullopt;
        return Frame{std::make_shared<Image>(Size{8, 4}, PixelFormat::rgba8), number_++, {}};
    }
    [[nodiscard]] SourceInfo info() const override { return {"slow", {8, 4}, 30, true, "RGBA"}; }

private:
    const std::shared_ptr<Network> network_;
    std::uint64_t number_ = 0;
};

std::unique_ptr<FrameSource> openSlow(const std::shared_ptr<Network>& network, const std::stop_token& stop) {
    return openDetached(
        [network](const std::stop_token&) {
            network->opening.pass();
            return std::make_unique<SlowSource>(network);
        },
        stop);
}

struct Detached : ::testing::Test {
    std::shared_ptr<Network> network = std::make_shared<Network>();
    std::stop_source stop;
    ~Detached() override {
        for (Gate* gate : {&network->opening, &network->reading, &network->closing}) gate->open();
        EXPECT_TRUE(eventually([&] { return network.use_count() == 1; })) << "a thread was left for ever";
        EXPECT_EQ(network->alive, 0);
    }
};

TEST_F(Detached, GivesWhatItsSourceGives) {
    network->opening.open();
    network->reading.open();
    const auto source = openSlow(network, {});
    EXPECT_EQ(source->info().name, "slow");
    EXPECT_EQ(source->read({})->number, 0U);
    EXPECT_EQ(source->read({})->number, 1U);
    EXPECT_FALSE(source->read({})) << "its end";
}

TEST_F(Detached, FaultsComeThrough) {
    EXPECT_THROW((void)openDetached(
                     [](const std::stop_token&) -> std::unique_ptr<FrameSource> {
                         throw Error(ErrorCategory::source, "Nothing comes: try again.");
                     },
                     {}),
                 Error);
}

TEST_F(Detached, OpeningThatHangsIsLeftAtOnce) {
    const std::jthread asker([&] {
        network->opening.awaitWaiting(1);
        stop.request_stop();
    });
    EXPECT_THROW((void)openSlow(network, stop.get_token()), Cancelled);
}

TEST_F(Detached, ReadingThatHangsIsLeftAtOnceAndClosesByItself) {
    network->opening.open();
    auto source = openSlow(network, {});
    const std::jthread asker([&] {
        network->reading.awaitWaiting(1);
        stop.request_stop();
    });
    EXPECT_FALSE(source->read(stop.get_token()));
    source.reset();
    EXPECT_EQ(network->alive, 1) << "it is still being read";
    network->reading.open();
    network->closing.open();
    EXPECT_TRUE(eventually([&] { return network->alive == 0; }));
    EXPECT_TRUE(network->toldToEnd);
}

TEST_F(Detached, WhatWasReadForOneWhoLeftIsNotLost) {
    network->opening.open();
    const auto source = openSlow(network, {});
    std::jthread asker([&] {
        network->reading.awaitWaiting(1);
        stop.request_stop();
    });
    EXPECT_FALSE(source->read(stop.get_token()));
    network->reading.open();
    EXPECT_EQ(source->read({})->number, 0U);
}

TEST_F(Detached, AnotherSourceStartsWhileTheFirstHangs) {
    test::LiveScript script;
    test::FrameFeed feed;
    {
        Pipeline pipeline([&] { return test::scriptedEngine(script); }, [] {});
        pipeline.start([this](PixelMemory, const std::stop_token& end) { return openSlow(network, end); });
        network->opening.awaitWaiting(1);
        pipeline.start([&](PixelMemory, std::stop_token) { return feed.open(); });
        feed.push();
        EXPECT_TRUE(eventually([&] {
            const auto live = pipeline.newest();
            return live && !live->placeholder;
        }));
        pipeline.start([this](PixelMemory, const std::stop_token& end) { return openSlow(network, end); });
        network->opening.awaitWaiting(2);
    }  // nor does the pipeline's end wait for it
}

}  // namespace
}  // namespace matte
