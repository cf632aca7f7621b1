// SPDX-License-Identifier: Apache-2.0
// The live pipeline: what reaches the screen, and what does when something fails.

#include "tests/support/engines/live_pipeline.h"

namespace matte {
namespace {

using State = LiveStatus::State;
using test::eventually;
using test::Live;

TEST_F(Live, ShowsEachFrameWithItsOwnNumber) {
    start();
    for (int i = 0; i < 5; ++i) {
        feed.push();
        ASSERT_TRUE(shows(i));
        EXPECT_EQ(int(pipeline.newest()->frame), i);
    }
    const LiveStatistics statistics = pipeline.statistics();
    EXPECT_EQ(statistics.framesIn, 5U);
    EXPECT_EQ(statistics.framesOut, 5U);
    EXPECT_EQ(statistics.staleComposites, 0U);
    EXPECT_EQ(statistics.bytesUp, 8U * 4 * 4);
    EXPECT_EQ(statistics.bytesDown, 0U);
    EXPECT_EQ(pipeline.status().state, State::running);
    EXPECT_EQ(pipeline.status().engine.name, "Scripted engine");
    EXPECT_GT(news, 5);
}

TEST_F(Live, MakesTheEngineWhenTheFirstSourceStarts) {
    pipeline.setParams({});  // nor for them
    EXPECT_EQ(script.made, 0);
    start();
    EXPECT_TRUE(eventually([&] { return script.made == 1; }));
    EXPECT_EQ(pipeline.newest(), nullptr);
    EXPECT_FALSE(madeTooSoon);
}

TEST_F(Live, ASourceIsToldWhereTheEngineWantsItsFrames) {
    std::atomic<bool> told = false;
    pipeline.start([&](PixelMemory memory, std::stop_token) {
        told = memory.take != nullptr && memory.giveBack != nullptr;
        return feed.open();
    });
    feed.push();
    ASSERT_TRUE(shows(0));
    EXPECT_TRUE(told);
}

TEST_F(Live, TheNewestFrameReplacesOneThatWaits) {
    script.take.close();
    script.slots = 1;
    for (int i = 0; i < 40; ++i) feed.push();
    start();
    ASSERT_TRUE(eventually([&] { return pipeline.statistics().framesIn == 40; }));
    script.take.open();
    ASSERT_TRUE(shows(39));
    const LiveStatistics statistics = pipeline.statistics();
    EXPECT_EQ(statistics.framesIn, 40U);
    EXPECT_EQ(statistics.framesOut + statistics.framesDropped, 40U);
    EXPECT_LE(statistics.framesOut, 2U) << "the one that the engine was busy with, and the newest";
}

TEST_F(Live, FillsTheSecondSlotOnlyWhenAFrameWaits) {
    start();
    feed.push();
    ASSERT_TRUE(shows(0));
    EXPECT_EQ(script.mostUnderWay, 1);
    script.submit.close();
    feed.push();
    ASSERT_TRUE(eventually([&] { return script.submitting == 2; }));
    feed.push();
    ASSERT_TRUE(eventually([&] { return pipeline.statistics().framesIn == 3; }));  // it waits
    script.submit.open();
    EXPECT_TRUE(shows(2));
    EXPECT_EQ(script.mostUnderWay, 2);
    EXPECT_EQ(pipeline.statistics().framesDropped, 0U);
}

TEST_F(Live, ShowsTheBackgroundAloneBeforeTheFirstMatte) {
    script.take.close();
    feed.push();
    start();
    EXPECT_TRUE(eventually([&] { return pipeline.newest() != nullptr; }));
    EXPECT_TRUE(showsPlaceholder());
    EXPECT_TRUE(eventually([&] { return script.submitted == 1; }));
    EXPECT_TRUE(showsPlaceholder());
    script.take.open();
    EXPECT_TRUE(shows(0));
}

TEST_F(Live, ThePanicKeyHidesThePersonAtOnceEvenWhileTheEngineStalls) {
    start();
    feed.push();
    ASSERT_TRUE(shows(0));
    script.take.close();
    feed.push();
    ASSERT_TRUE(eventually([&] { return script.submitted == 2; }));
    pipeline.hidePerson(true);
    EXPECT_TRUE(showsPlaceholder());
    EXPECT_TRUE(pipeline.status().personHidden);
    script.take.open();
    EXPECT_TRUE(eventually([&] { return pipeline.statistics().framesOut == 2; }));
    EXPECT_TRUE(showsPlaceholder());
    pipeline.hidePerson(false);
    EXPECT_EQ(pipeline.newest()->frame, 1U);
}

TEST_F(Live, WithoutAUsableMatteTheLastGoodCompositeStays) {
    start();
    feed.push();
    ASSERT_TRUE(shows(0));
    script.matteFault = MatteFault::everything;
    feed.push();
    ASSERT_TRUE(eventually([&] { return pipeline.statistics().matteFailures == 1; }));
    EXPECT_EQ(pipeline.statistics().mattesRefused, 1U);
    EXPECT_NE(pipeline.status().matteProblem.find("suddenly covers the whole picture"), std::string::npos);
    EXPECT_EQ(pipeline.newest()->frame, 0U);
    script.matteFault = MatteFault::none;
    feed.push();
    EXPECT_TRUE(shows(2));
}

TEST_F(Live, WithoutAnyUsableMatteTheBackgroundAloneIsShown) {
    script.matteFault = MatteFault::notFinite;
    start();
    feed.push();
    ASSERT_TRUE(eventually([&] { return pipeline.statistics().matteFailures == 1; }));
    EXPECT_TRUE(showsPlaceholder());
}

TEST_F(Live, AnEngineThatThrowsIsToldAndTheNextFrameGoesOn) {
    start();
    feed.push();
    ASSERT_TRUE(shows(0));
    script.failTakes = 1;
    feed.push();
    ASSERT_TRUE(eventually([&] { return pipeline.status().engineProblem == "The scripted engine broke: mend it."; }));
    EXPECT_EQ(pipeline.newest()->frame, 0U);
    EXPECT_EQ(script.dropped, 1);
    EXPECT_EQ(script.resets, 1) << "of the source before: what it knows of this one is kept";
    feed.push();
    ASSERT_TRUE(shows(2));
    EXPECT_EQ(pipeline.status().engineProblem, "");
    EXPECT_EQ(pipeline.statistics().engineFailures, 1U);
}

TEST_F(Live, AnEngineThatCantBeMadeIsTriedAgainWithTheNextSource) {
    script.failMaking = true;
    start();
    ASSERT_TRUE(
        eventually([&] { return pipeline.status().engineProblem == "The scripted model is damaged: get another."; }));
    feed.push();
    ASSERT_TRUE(eventually([&] { return pipeline.newest() != nullptr; }));
    EXPECT_TRUE(showsPlaceholder());
    script.failMaking = false;
    start();
    feed.push();
    EXPECT_TRUE(eventually([&] { return pipeline.statistics().framesOut == 1; }));
}

TEST_F(Live, AMatteOfAnotherFrameIsNeverShown) {
    start();
    feed.push();
    ASSERT_TRUE(shows(0));
    script.wrongFrame = true;
    feed.push();
    ASSERT_TRUE(eventually([&] { return pipeline.statistics().staleComposites == 1; }));
    EXPECT_EQ(pipeline.newest()->frame, 0U);
}

TEST_F(Live, ALostSourceIsOpenedAgainUntilItIsBack) {
    start();
    feed.push();
    ASSERT_TRUE(shows(0));
    feed.lose("The camera is gone: plug it in again.");
    ASSERT_TRUE(eventually([&] { return pipeline.status().sourceProblem == "The camera is gone: plug it in again."; }));
    EXPECT_EQ(pipeline.status().state, State::lost);
    EXPECT_EQ(pipeline.status().sourceCategory, ErrorCategory::source);
    feed.push();
    ASSERT_TRUE(shows(1));
    EXPECT_EQ(pipeline.newest()->frame, 1U);  // its numbers go on
    EXPECT_EQ(feed.opened(), 2);
    EXPECT_EQ(pipeline.status().state, State::running);
    EXPECT_EQ(pipeline.status().sourceProblem, "");
}

TEST_F(Live, AFileThatCantBeReadIsNotTriedAgain) {
    std::atomic<int> opened = 0;
    pipeline.start([&opened](PixelMemory, std::stop_token) -> std::unique_ptr<FrameSource> {
        ++opened;
        throw Error(ErrorCategory::input, "clip.mp4 is no video: choose another.");
    });
    ASSERT_TRUE(eventually([&] { return pipeline.status().state == State::ended; }));
    EXPECT_EQ(pipeline.status().sourceProblem, "clip.mp4 is no video: choose another.");
    EXPECT_EQ(pipeline.status().sourceCategory, ErrorCategory::input);
    start();  // on the same thread, once it is through with the file
    feed.push();
    ASSERT_TRUE(shows(0));
    EXPECT_EQ(opened, 1);
}

TEST_F(Live, FramesMayChangeTheirSize) {
    start();
    feed.push(8, 4);
    ASSERT_TRUE(shows(0));
    feed.push(16, 6);
    ASSERT_TRUE(shows(1));
    EXPECT_EQ(pipeline.newest()->picture->size(), (Size{16, 6}));
    pipeline.hidePerson(true);
    EXPECT_TRUE(eventually([&] { return pipeline.newest()->picture->size() == Size{16, 6}; }));
}

TEST_F(Live, AnEndedFileKeepsItsLastPictureAndFollowsTheParams) {
    start();
    feed.push();
    feed.end();
    ASSERT_TRUE(eventually([&] { return pipeline.status().state == State::ended; }));
    ASSERT_TRUE(shows(0));
    CompositeParams params;
    params.threshold = 0.9F;
    pipeline.setParams(params);
    EXPECT_TRUE(eventually([&] { return script.submitted == 2; }));
    EXPECT_TRUE(shows(0));
}

TEST_F(Live, AnotherSourceBeginsWithoutWhatTheFirstLeft) {
    start();
    feed.push();
    ASSERT_TRUE(shows(0));
    pipeline.start([this](PixelMemory, std::stop_token) { return other.open(); });
    EXPECT_TRUE(!pipeline.newest() || pipeline.newest()->placeholder);
    feed.push();  // nobody reads it any more
    other.push();
    ASSERT_TRUE(shows(0));
    EXPECT_EQ(pipeline.statistics().framesIn, 1U);
    EXPECT_GE(script.resets, 2);
}

TEST_F(Live, StoppingClosesTheSourceAndKeepsThePicture) {
    start();
    feed.push();
    ASSERT_TRUE(shows(0));
    pipeline.stop();
    EXPECT_EQ(pipeline.status().state, State::stopped);
    EXPECT_EQ(pipeline.newest()->frame, 0U);
    start();
    feed.push();
    EXPECT_TRUE(shows(1));
    EXPECT_EQ(script.made, 1);
}

TEST_F(Live, ACutoutIsHandedOutAndNeverShown) {
    std::atomic<bool> seenThrough = false;
    const auto look = [&] {
        const auto live = pipeline.newest();
        if (live && live->picture->image()->row(0)[3] != 255) seenThrough = true;
    };
    start();
    feed.push();
    ASSERT_TRUE(shows(0));
    EXPECT_EQ(pipeline.takeCutout(), nullptr) << "nobody asked";
    for (int i = 0; i < 10; ++i) {
        script.take.close();  // so that frames are under way all the while
        pipeline.requestCutout();
        feed.push();
        feed.push();
        ASSERT_TRUE(eventually([&] { return pipeline.statistics().framesIn == 2U * i + 3; }));
        script.take.open();
        std::shared_ptr<const LivePicture> cutout;
        ASSERT_TRUE(eventually([&] {
            look();
            return (cutout = pipeline.takeCutout()) != nullptr;
        }));
        EXPECT_EQ(cutout->picture->image()->row(0)[3], 128);
        EXPECT_EQ(pipeline.takeCutout(), nullptr) << "once";
    }
    feed.push();
    EXPECT_TRUE(shows(21));
    look();
    EXPECT_FALSE(seenThrough);
}

TEST_F(Live, ACutoutOfTheLastFrameComesWhenNoNewerOneDoes) {
    start();
    feed.push();
    ASSERT_TRUE(shows(0));
    pipeline.requestCutout();
    std::shared_ptr<const LivePicture> cutout;
    ASSERT_TRUE(eventually([&] { return (cutout = pipeline.takeCutout()) != nullptr; }));
    EXPECT_EQ(cutout->frame, 0U);
    EXPECT_EQ(pipeline.newest()->picture->image()->row(0)[3], 255);
}

TEST_F(Live, NobodyWhoHidesIsCutOut) {
    start();
    feed.push();
    ASSERT_TRUE(shows(0));
    pipeline.hidePerson(true);
    pipeline.requestCutout();
    EXPECT_TRUE(eventually([&] { return pipeline.statistics().framesOut == 2; }));
    EXPECT_EQ(pipeline.takeCutout(), nullptr);
    pipeline.dropCutout();
    pipeline.hidePerson(false);
    EXPECT_EQ(pipeline.takeCutout(), nullptr);
}

}  // namespace
}  // namespace matte
