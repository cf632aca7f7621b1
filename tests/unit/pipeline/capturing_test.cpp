// SPDX-License-Identifier: Apache-2.0
// For how long a camera may be on, as the status says and the window's light shows: also while a lost one is tried
// again, and while a stopped one is still being closed.
#include <atomic>
#include <chrono>
#include <memory>
#include <semaphore>
#include <utility>

#include <gtest/gtest.h>

#include "inference/pipeline/pipeline.h"
#include "tests/support/engines/scripted_live.h"
#include "tests/support/running/eventually.h"

namespace matte {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using State = LiveStatus::State;

/// Takes as long to switch on and off as the test lets it.
struct SlowCamera {
    std::counting_semaphore<> on{0}, off{0};
    static void await(std::counting_semaphore<>& let) { EXPECT_TRUE(let.try_acquire_for(20s)); }
};

class SlowSource : public FrameSource {
public:
    SlowSource(std::shared_ptr<SlowCamera> camera, std::unique_ptr<FrameSource> frames)
        : camera_(std::move(camera)), frames_(std::move(frames)) {
        SlowCamera::await(camera_->on);
    }
    ~SlowSource() override { SlowCamera::await(camera_->off); }
    SlowSource(const SlowSource&) = delete;
    SlowSource& operator=(const SlowSource&) = delete;
    std::optional<Frame> read(std::stop_token stop) override { return frames_->read(stop); }
    [[nodiscard]] SourceInfo info() const override { return frames_->info(); }

private:
    const std::shared_ptr<SlowCamera> camera_;
    const std::unique_ptr<FrameSource> frames_;
};

struct Capturing : ::testing::Test {
    test::LiveScript script;
    test::FrameFeed feed;  // before the pipeline, which reads it to its end
    std::atomic<int> news = 0;
    Pipeline pipeline{[this] { return test::scriptedEngine(script); }, [this] { ++news; }};
};

TEST_F(Capturing, IsSaidFromBeforeACameraIsOpenedUntilItIsClosed) {
    const auto is = [this](State state, bool capturing) {
        return eventually([&] {
            const LiveStatus status = pipeline.status();
            return status.state == state && status.capturing == capturing;
        });
    };
    const auto camera = std::make_shared<SlowCamera>();
    EXPECT_FALSE(pipeline.status().capturing);
    pipeline.start(
        [this, camera](PixelMemory, std::stop_token) { return std::make_unique<SlowSource>(camera, feed.open()); });
    EXPECT_TRUE(is(State::opening, true));
    camera->on.release();
    feed.push();
    EXPECT_TRUE(is(State::running, true));

    feed.refuse("The camera is gone: plug it in again.");
    feed.lose("The camera is gone: plug it in again.");
    camera->off.release();
    EXPECT_TRUE(is(State::lost, false));
    feed.refuse("");
    EXPECT_TRUE(is(State::lost, true)) << "it is tried again, and sends nothing yet";
    camera->on.release();
    feed.push();
    EXPECT_TRUE(is(State::running, true));

    const int before = news;
    pipeline.stop();
    EXPECT_TRUE(is(State::stopped, true)) << "it is still being closed";
    camera->off.release();
    EXPECT_TRUE(is(State::stopped, false));
    EXPECT_TRUE(eventually([&] { return news >= before + 2; })) << "of both";
}

}  // namespace
}  // namespace matte
