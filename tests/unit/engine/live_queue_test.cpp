// SPDX-License-Identifier: Apache-2.0
// The frames under way, and what becomes of them when the device of their engine fails: here with engines that are told
// when to fail.
#include "inference/engine/live_queue.h"

#include <optional>

#include <gtest/gtest.h>

#include "inference/core/error.h"
#include "tests/support/engines/device_engine.h"

namespace matte {
namespace {

using test::DeviceEngine;
using Calls = std::vector<std::string>;

/// Gives what the test left in it.
struct Selection {
    std::optional<std::unique_ptr<LiveEngine>> next;
    std::vector<std::string> failures;
    std::string problem;
};
class ScriptedSelector final : public EngineSelector {
public:
    explicit ScriptedSelector(Selection& selection) : selection_(selection) {}
    std::optional<std::unique_ptr<LiveEngine>> next(Size, const LiveEngine&) override {
        return std::exchange(selection_.next, std::nullopt);
    }
    void failed(const std::string& sentence) override { selection_.failures.push_back(sentence); }
    [[nodiscard]] std::string problem() const override { return selection_.problem; }

private:
    Selection& selection_;
};

class LiveQueueTest : public testing::Test {
protected:
    LiveEngines::Make standby() {
        return [this](const std::string& reason) { return std::make_unique<DeviceEngine>(script_, "cpu", reason); };
    }
    LiveEngines engines() {
        LiveEngines made(std::make_unique<DeviceEngine>(script_, "gpu"), standby());
        made.selector = std::make_unique<ScriptedSelector>(selection_);
        return made;
    }
    void submit(int number) { queue_.submit({image_, std::uint64_t(number), {}}, {}, number); }
    void select(const char* name) { selection_.next = std::make_unique<DeviceEngine>(script_, name); }
    /// The number of the frame that comes, whose tag has to be the same.
    int take() {
        const auto [output, entry] = queue_.take();
        EXPECT_EQ(int(output.frame), entry.tag);
        EXPECT_EQ(int(entry.frame.number), entry.tag);
        return entry.tag;
    }
    void lose() { script_.failure = DeviceFailure("The GPU fell off the bus.", true); }
    void fill() { script_.failure = DeviceFailure("The GPU's memory is too small.", false); }

    std::shared_ptr<const Image> image_ = std::make_shared<Image>(Size{8, 4}, PixelFormat::rgba8);
    test::DeviceScript script_;
    Selection selection_;
    LiveQueue<int> queue_{engines()};
};

TEST_F(LiveQueueTest, KeepsTheOrderAndAsManyFramesAsThereAreSlots) {
    EXPECT_TRUE(queue_.isEmpty());
    submit(5);
    EXPECT_FALSE(queue_.isFull());
    submit(6);
    EXPECT_TRUE(queue_.isFull());
    EXPECT_EQ(queue_.front().tag, 5);
    EXPECT_EQ(take(), 5);
    EXPECT_EQ(take(), 6);
    EXPECT_TRUE(queue_.isEmpty());
    EXPECT_EQ(queue_.info().kind, EngineKind::cuda);
}

TEST_F(LiveQueueTest, AFrameThatTheEngineRefusesWaitsForASlot) {
    submit(5);
    script_.slots = 1;  // its memory is full, for instance
    submit(6);
    EXPECT_EQ(script_.calls, (Calls{"gpu submit 5"}));
    EXPECT_EQ(take(), 5);
    EXPECT_EQ(take(), 6);
    EXPECT_EQ(script_.calls, (Calls{"gpu submit 5", "gpu take", "gpu submit 6", "gpu take"}));
}

TEST_F(LiveQueueTest, BeginsFramesAgainThatALostDeviceHad) {
    submit(5);
    submit(6);
    lose();
    EXPECT_EQ(take(), 5);
    EXPECT_FALSE(script_.firstLives);
    EXPECT_EQ(queue_.slots(), 1);
    EXPECT_EQ(take(), 6);
    submit(7);
    EXPECT_EQ(take(), 7);
    EXPECT_EQ(script_.calls, (Calls{"gpu submit 5", "gpu submit 6", "gpu take", "cpu submit 5", "cpu take",
                                    "cpu submit 6", "cpu take", "cpu submit 7", "cpu take"}));
    EXPECT_EQ(queue_.info().kind, EngineKind::cpu);
    EXPECT_EQ(queue_.info().reason, "The GPU fell off the bus.");
    queue_.reset();
    EXPECT_EQ(queue_.info().kind, EngineKind::cpu) << "for good";
}

TEST_F(LiveQueueTest, BeginsAFrameAgainWhoseDeviceIsLostAtItsBeginning) {
    lose();
    submit(5);
    EXPECT_EQ(take(), 5);
    EXPECT_EQ(script_.calls, (Calls{"gpu submit 5", "cpu submit 5", "cpu take"}));
}

TEST_F(LiveQueueTest, MakesAPictureAgainThatWasLostBeforeItWasFetched) {
    submit(5);
    submit(6);
    auto taken = queue_.take();
    lose();
    taken = queue_.takeAgain(std::move(taken), *script_.failure);
    EXPECT_EQ(taken.entry.tag, 5);
    EXPECT_EQ(take(), 6);
    EXPECT_EQ(script_.calls, (Calls{"gpu submit 5", "gpu submit 6", "gpu take", "cpu submit 5", "cpu take",
                                    "cpu submit 6", "cpu take"}));
}

TEST_F(LiveQueueTest, StaysOnTheStandbyUntilAnotherSourceBegins) {
    fill();
    submit(0);
    script_.failure.reset();
    EXPECT_EQ(take(), 0);
    submit(1);
    EXPECT_EQ(take(), 1);
    EXPECT_EQ(queue_.info().reason, "The GPU's memory is too small.");
    queue_.reset();
    submit(0);
    EXPECT_EQ(script_.calls,
              (Calls{"gpu submit 0", "cpu submit 0", "cpu take", "cpu submit 1", "cpu take", "gpu submit 0"}));
    EXPECT_EQ(queue_.info().kind, EngineKind::cuda);
    EXPECT_EQ(queue_.info().warnings, (Calls{"The GPU's memory is too small."}));
}

// What is under way when another engine is selected is begun again there: no frame is lost, and all stay in order.
TEST_F(LiveQueueTest, ReplacesItsEngineBetweenTwoFrames) {
    submit(5);
    submit(6);
    select("other");
    submit(7);
    EXPECT_EQ(queue_.info().name, "other");
    for (const int number : {5, 6, 7}) EXPECT_EQ(take(), number);
    selection_.next = std::unique_ptr<LiveEngine>();
    submit(8);
    EXPECT_EQ(take(), 8);
    EXPECT_EQ(script_.calls, (Calls{"gpu submit 5", "gpu submit 6", "other submit 5", "other take", "other submit 6",
                                    "other take", "other submit 7", "other take", "gpu submit 8", "gpu take"}));
    EXPECT_EQ(queue_.info().name, "gpu");
    EXPECT_TRUE(selection_.failures.empty());
}

TEST_F(LiveQueueTest, TheUsualEngineMakesTheFrameAtWhichTheSelectedOneFailed) {
    for (const auto& [failure, told] :
         {std::pair(std::make_exception_ptr(Error(ErrorCategory::engine, "It broke.")), std::string("It broke.")),
          std::pair(std::make_exception_ptr(Cancelled{}), std::string())}) {
        script_.otherFailure = nullptr;
        select("other");
        submit(5);
        submit(6);
        script_.otherFailure = failure;
        EXPECT_EQ(take(), 5);
        EXPECT_EQ(take(), 6);
        EXPECT_EQ(queue_.info().name, "gpu");
        EXPECT_EQ(selection_.failures.back(), told);
    }
}

TEST_F(LiveQueueTest, TellsTheSelectedEngineWithTheUsualOnesProblems) {
    fill();
    submit(0);
    EXPECT_EQ(take(), 0);
    script_.failure.reset();
    queue_.reset();
    selection_.problem = "Another one was slow.";
    select("other");
    submit(1);
    EXPECT_EQ(queue_.info().name, "other");
    EXPECT_EQ(queue_.info().warnings, (Calls{"The GPU's memory is too small.", "Another one was slow."}));
}

TEST_F(LiveQueueTest, DropsWhatIsUnderWayAndGoesOnWithTheSameEngine) {
    submit(5);
    queue_.drop();
    EXPECT_TRUE(queue_.isEmpty());
    submit(6);
    EXPECT_EQ(take(), 6);
    EXPECT_TRUE(script_.firstLives);
}

TEST_F(LiveQueueTest, TimesLayersOnTheStandbyAsOnTheFirst) {
    queue_.timeLayers(true);
    script_.timesLayers = false;
    lose();
    submit(5);
    EXPECT_TRUE(script_.timesLayers);
}

TEST_F(LiveQueueTest, AFrameStaysUnderWayWhereTheStandbyCannotBeMade) {
    LiveQueue<int> queue(
        {std::make_unique<DeviceEngine>(script_, "gpu"), [](const std::string&) -> std::unique_ptr<LiveEngine> {
             throw Error(ErrorCategory::model, "The model is damaged.");
         }});
    queue.submit({image_, 5, {}}, {}, 5);
    lose();
    for (int i = 0; i < 2; ++i) EXPECT_THROW((void)queue.take(), Error) << "and again";
    EXPECT_EQ(queue.front().tag, 5);
}

TEST_F(LiveQueueTest, TellsTheFailureWhereThereIsNoStandby) {
    LiveQueue<int> queue(std::make_unique<DeviceEngine>(script_, "gpu"));
    queue.submit({image_, 5, {}}, {}, 5);
    lose();
    EXPECT_THROW((void)queue.take(), DeviceFailure);
}

TEST_F(LiveQueueTest, IsTheStandbyAloneWhereTheFirstCannotBeMade) {
    const auto fails = []() -> std::unique_ptr<LiveEngine> { throw DeviceFailure("The GPU gets it wrong.", true); };
    LiveQueue<int> queue(LiveEngines::create(fails, standby()));
    EXPECT_EQ(queue.info().reason, "The GPU gets it wrong.");
    const auto none = [](const std::string&) -> std::unique_ptr<LiveEngine> {
        throw Error(ErrorCategory::model, "The model is damaged.");
    };
    try {
        LiveEngines::create(fails, none);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.category, ErrorCategory::model);
    }
}

}  // namespace
}  // namespace matte
