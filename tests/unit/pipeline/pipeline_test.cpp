// SPDX-License-Identifier: Apache-2.0
// The live pipeline with a scripted source and engine: what reaches the screen, and what does when something fails.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <optional>
#include <sstream>

#include <gtest/gtest.h>

#include "inference/core/error.h"
#include "inference/pipeline/pipeline.h"
#include "tests/support/eventually.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/scripted_live.h"

namespace matte {
namespace {

using State = LiveStatus::State;
using test::eventually;
using test::FrameFeed;
using test::LiveScript;
using test::numberIn;

struct Live : ::testing::Test {
    LiveScript script;
    FrameFeed feed, other;  // before the pipeline, which reads them to its end
    std::atomic<int> news = 0;
    std::atomic<bool> mayMake = false, madeTooSoon = false;
    Pipeline pipeline{[this] {
                          if (!mayMake) madeTooSoon = true;
                          return test::scriptedEngine(script);
                      },
                      [this] { ++news; }};

    Live() {
        CompositeParams params;
        params.background.kind = Background::Kind::color;
        params.background.color = {10, 20, 30};
        pipeline.setParams(params);
    }
    ~Live() override {
        script.submit.open();  // a test may have ended before it did
        script.take.open();
    }
    void start() {
        mayMake = true;
        pipeline.start([this](PixelMemory, std::stop_token) { return feed.open(); });
    }
    [[nodiscard]] bool shows(int number) const {
        return eventually([&] {
            const auto live = pipeline.newest();
            return live && !live->placeholder && numberIn(*live->picture) == number;
        });
    }
    /// The background alone.
    [[nodiscard]] bool showsPlaceholder() const {
        const auto live = pipeline.newest();
        if (!live || !live->placeholder) return false;
        const std::uint8_t* pixel = live->picture->image()->row(0);
        return pixel[0] == 10 && pixel[1] == 20 && pixel[2] == 30 && pixel[3] == 255;
    }
};

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
    EXPECT_EQ(script.forgotten, 1) << "of the source before: what it knows of this one is kept";
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

TEST_F(Live, AnEndedFileKeepsItsLastPictureAndFollowsTheLook) {
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

TEST_F(Live, OnlyTheFirstPictureOfAFrameCountsAsItsLatency) {
    start();
    feed.push();
    ASSERT_TRUE(shows(0));
    pipeline.presented(*pipeline.newest(), 1);
    const auto first = pipeline.newest();
    CompositeParams params;
    params.threshold = 0.9F;
    pipeline.setParams(params);  // while no newer frame comes
    ASSERT_TRUE(eventually([&] { return pipeline.newest() != first; }));
    pipeline.presented(*pipeline.newest(), 1);
    EXPECT_EQ(pipeline.statistics().framesPresented, 2U);
    EXPECT_EQ(pipeline.statistics().latency.ms.samples, 1U) << "in another look";
    feed.push();
    ASSERT_TRUE(shows(1));
    pipeline.presented(*pipeline.newest(), 1);
    EXPECT_EQ(pipeline.statistics().latency.ms.samples, 2U);
    pipeline.hidePerson(true);
    pipeline.hidePerson(false);
    pipeline.presented(*pipeline.newest(), 1);
    EXPECT_EQ(pipeline.statistics().latency.ms.samples, 2U) << "as it stood there before the person was hidden";
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
    EXPECT_GE(script.forgotten, 2);
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

TEST_F(Live, TimesStagesAndLayersAndPresents) {
    pipeline.timeLayers(true);
    start();
    feed.push();
    ASSERT_TRUE(shows(0));
    pipeline.presented(*pipeline.newest(), 0.25);
    const LiveStatistics statistics = pipeline.statistics();
    ASSERT_EQ(statistics.stages.size(), 2U);
    EXPECT_EQ(statistics.stages[0].name, "network");
    EXPECT_FLOAT_EQ(statistics.stages[0].ms.p50, 2);
    ASSERT_EQ(statistics.layerMs.size(), 2U);
    EXPECT_EQ(statistics.layers[1].name, "head");
    EXPECT_FLOAT_EQ(statistics.layerMs[0].ms.p99, 1.5F);
    EXPECT_EQ(statistics.framesPresented, 1U);
    EXPECT_FLOAT_EQ(statistics.present.newest, 0.25F);
    EXPECT_GT(statistics.latency.ms.p50, 0);
}

TEST_F(Live, TheLayersFollowTheNetworksInputAndTheFramesTimesGoOn) {
    pipeline.timeLayers(true);
    start();
    feed.push();
    ASSERT_TRUE(shows(0));
    ASSERT_EQ(pipeline.statistics().layers[0].flops, 100);
    script.smallerInput = true;
    EXPECT_TRUE(eventually([&] {
        feed.push();
        return pipeline.statistics().layers[0].flops == 25;
    }));
    const LiveStatistics statistics = pipeline.statistics();
    const auto remembered = std::min<std::uint64_t>(statistics.framesOut, Recent::kSamples);
    EXPECT_EQ(statistics.frame.ms.samples, remembered) << "the engine is the same";
}

TEST_F(Live, LayersAndTimesBeginAnewWithFineDetail) {
    start();
    for (int i = 0; i < 3; ++i) {
        feed.push();
        ASSERT_TRUE(shows(i));
    }
    ASSERT_EQ(pipeline.statistics().layers[0].flops, 100);
    CompositeParams fine;
    fine.fineDetail = true;
    pipeline.setParams(fine);
    EXPECT_TRUE(eventually([&] {
        feed.push();
        return pipeline.statistics().layers[0].flops == 400;
    }));
    const LiveStatistics statistics = pipeline.statistics();
    EXPECT_LT(statistics.frame.ms.samples, statistics.framesOut);
}

TEST_F(Live, ACutoutIsHandedOutAndNeverShown) {
    std::atomic<bool> seenThrough = false;
    const auto params = [&] {
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
            params();
            return (cutout = pipeline.takeCutout()) != nullptr;
        }));
        EXPECT_EQ(cutout->picture->image()->row(0)[3], 128);
        EXPECT_EQ(pipeline.takeCutout(), nullptr) << "once";
    }
    feed.push();
    EXPECT_TRUE(shows(21));
    params();
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

TEST_F(Live, WhatTheDeviceReachesIsMeasuredOnceWhenLayersAreFirstTimed) {
    start();
    feed.push();
    ASSERT_TRUE(shows(0));
    EXPECT_EQ(script.rateSteps, 0);
    EXPECT_FALSE(pipeline.statistics().rates);
    pipeline.timeLayers(true);
    ASSERT_TRUE(eventually([&] { return pipeline.statistics().rates.has_value(); })) << "also without another frame";
    EXPECT_EQ(pipeline.statistics().rates->text, "a loop");
    pipeline.timeLayers(false);
    pipeline.timeLayers(true);
    for (int i = 1; i < 5; ++i) {
        feed.push();
        ASSERT_TRUE(shows(i));
    }
    EXPECT_EQ(script.rateSteps, 3) << "it takes three steps, and no more";
}

TEST_F(Live, AnEngineThatTakesOverIsMeasuredAnewAndOneThatCantBeIsNotAskedAgain) {
    pipeline.timeLayers(true);
    start();
    ASSERT_TRUE(eventually([&] { return pipeline.statistics().rates.has_value(); }));
    script.lostDevice = true;
    ASSERT_TRUE(eventually([&] {
        feed.push();
        const auto rates = pipeline.statistics().rates;
        return rates && !rates->known();
    }));
    EXPECT_EQ(pipeline.status().engine.reason, "The scripted device is lost.");
    EXPECT_TRUE(pipeline.status().engineProblem.empty());
    EXPECT_EQ(script.made, 1) << "it is the engine's own affair";
}

TEST_F(Live, TimesTheWaitForAFrame) {
    const test::ScratchFolder folder;
    const auto trace = std::make_shared<Trace>(folder / "trace.json");
    pipeline.record(trace);
    const auto wait = [&] {
        const LiveStatistics statistics = pipeline.statistics();
        const bool isThere = !statistics.stages.empty() && statistics.stages[0].name == "capture wait";
        return isThere ? std::optional(statistics.stages[0]) : std::nullopt;
    };
    start();
    feed.push();
    ASSERT_TRUE(shows(0));
    EXPECT_FALSE(wait()) << "before the first frame the source had to open";
    int last = 0;
    EXPECT_TRUE(eventually([&] {
        feed.push();  // for which the worker waits by now, or will the next time
        return shows(++last) && wait() && wait()->newest > 0;
    }));
    trace->finish();
    std::stringstream text;
    text << std::ifstream(trace->path()).rdbuf();
    EXPECT_NE(text.str().find("\"capture wait\""), std::string::npos);
}

TEST_F(Live, AFrameThatWaitsInTheBoxIsNotWaitedFor) {
    script.slots = 1;
    start();
    feed.push();
    ASSERT_TRUE(shows(0));
    script.take.close();
    feed.push();
    ASSERT_TRUE(eventually([&] { return script.submitted == 2; }));
    feed.push();  // while the engine is busy
    ASSERT_TRUE(eventually([&] { return pipeline.statistics().framesIn == 3; }));
    script.take.open();
    ASSERT_TRUE(shows(2));
    EXPECT_EQ(pipeline.statistics().stages.at(0).newest, 0);
    EXPECT_EQ(pipeline.statistics().stages.at(0).ms.samples, 2U);
}

TEST_F(Live, RecordsATraceOfEveryThread) {
    const auto trace = std::make_shared<Trace>("never-written.json");
    pipeline.record(trace);
    start();
    feed.push();
    ASSERT_TRUE(shows(0));
    pipeline.presented(*pipeline.newest(), 0.1);
    EXPECT_EQ(trace->spans(), 6U);  // frame, submit, take, two stages, present
}

}  // namespace
}  // namespace matte
