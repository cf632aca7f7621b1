// SPDX-License-Identifier: Apache-2.0
// The live pipeline: what it measures of frames, stages and layers, and the trace of its threads.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <optional>
#include <sstream>

#include "tests/support/engines/live_pipeline.h"
#include "tests/support/files/scratch_folder.h"

namespace matte {
namespace {

using test::eventually;
using test::Live;

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
    EXPECT_EQ(pipeline.statistics().latency.ms.samples, 1U) << "with other parameters";
    feed.push();
    ASSERT_TRUE(shows(1));
    pipeline.presented(*pipeline.newest(), 1);
    EXPECT_EQ(pipeline.statistics().latency.ms.samples, 2U);
    pipeline.hidePerson(true);
    pipeline.hidePerson(false);
    pipeline.presented(*pipeline.newest(), 1);
    EXPECT_EQ(pipeline.statistics().latency.ms.samples, 2U) << "as it stood there before the person was hidden";
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
