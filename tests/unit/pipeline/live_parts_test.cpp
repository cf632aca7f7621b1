// SPDX-License-Identifier: Apache-2.0
// The small parts of the live path: the placeholder, the newest samples, the trace.
#include <array>
#include <csignal>
#include <fstream>
#include <future>
#include <numeric>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "inference/core/error.h"
#include "inference/pipeline/privacy_placeholder.h"
#include "inference/pipeline/statistics.h"
#include "inference/pipeline/trace.h"
#include "tests/support/files/scratch_folder.h"

namespace matte {
namespace {

const std::uint8_t* firstPixel(const Picture& picture) {
    return picture.image()->row(0);
}

TEST(LiveMeter, TheTimesOfAnotherEngineBeginAnew) {
    LiveMeter meter;
    Output output;
    output.times = {{Stage::upload, 3}, {Stage::network, 100}};
    for (int i = 0; i < 9; ++i) meter.frameOut(std::chrono::steady_clock::now(), output, 120);
    meter.anotherEngine();
    output.times = {{Stage::network, 10}};
    meter.frameOut(std::chrono::steady_clock::now(), output, 20);
    const LiveStatistics statistics = meter.statistics({});
    ASSERT_EQ(statistics.stages.size(), 1U);
    EXPECT_EQ(statistics.stages.front().ms.p50, 10);
    EXPECT_EQ(statistics.frame.ms.p50, 20);
    EXPECT_EQ(statistics.framesOut, 10U) << "what was counted stays counted";
}

TEST(LiveMeter, TheHistogramReachesAsFarAsTheLatenciesDo) {
    const auto endFor = [](int ms, int rare) {
        LiveMeter meter;
        const LiveMeter::Time shown{};
        for (int i = 0; i < 300; ++i) meter.presented(shown, shown - std::chrono::milliseconds(i == 0 ? rare : ms), 0);
        const LiveStatistics statistics = meter.statistics(shown);
        EXPECT_EQ(std::accumulate(statistics.latencyHistogram.begin(), statistics.latencyHistogram.end(), 0), 300);
        return statistics.histogramMs;
    };
    EXPECT_EQ(endFor(4, 4), 10);
    EXPECT_EQ(endFor(4, 900), 10) << "one late frame is in the last step";
    EXPECT_EQ(endFor(10, 10), 20);
    EXPECT_EQ(endFor(34, 34), 50);
    EXPECT_EQ(endFor(120, 120), 200);
    EXPECT_EQ(endFor(7000, 7000), 10000);
}

TEST(LiveMeter, TheRatesOfWhatHasStoppedAreZero) {
    using std::chrono::milliseconds;
    LiveMeter meter;
    const LiveMeter::Time begin{}, newest = begin + milliseconds(1000);
    for (LiveMeter::Time at = begin; at <= newest; at += milliseconds(50)) {
        meter.frameIn(at, false);
        meter.frameOut(at, {}, 10);
    }
    EXPECT_DOUBLE_EQ(meter.statistics(newest + milliseconds(900)).fpsIn, 20);
    EXPECT_DOUBLE_EQ(meter.statistics(newest + milliseconds(900)).fpsOut, 20);
    EXPECT_EQ(meter.statistics(newest + milliseconds(1100)).fpsIn, 0);
    EXPECT_EQ(meter.statistics(newest + milliseconds(1100)).fpsOut, 0);
}

TEST(LiveMeter, ARefusedMatteIsToldForASecond) {
    LiveMeter meter;
    const LiveMeter::Time begin{std::chrono::milliseconds(100'000)};
    Output output;
    meter.frameOut(begin, output, 1);
    EXPECT_STREQ(meter.matteProblem(begin), "");
    output.matteFault = MatteFault::everything;
    meter.frameOut(begin, output, 1);
    output.matteFault = MatteFault::none;
    meter.frameOut(begin, output, 1);
    EXPECT_NE(std::string(meter.matteProblem(begin + std::chrono::milliseconds(900))).find("suddenly"),
              std::string::npos);
    EXPECT_STREQ(meter.matteProblem(begin + std::chrono::milliseconds(1100)), "");
    EXPECT_EQ(meter.statistics(begin).mattesRefused, 1U);
    output.matteFault = MatteFault::notFinite;
    meter.frameOut(begin, output, 1);
    EXPECT_NE(std::string(meter.matteProblem(begin)).find("not finite"), std::string::npos);
    EXPECT_EQ(meter.statistics(begin).mattesRefused, 1U);
    EXPECT_EQ(meter.statistics(begin).matteFailures, 2U);
}

TEST(LiveMeter, AFrameThatIsShownAgainHasNoLatency) {
    LiveMeter meter;
    const LiveMeter::Time captured{};
    meter.presented(captured + std::chrono::milliseconds(40), captured, 2);
    meter.presented(captured + std::chrono::seconds(9), std::nullopt, 4);
    const LiveStatistics statistics = meter.statistics(captured);
    EXPECT_EQ(statistics.framesPresented, 2U);
    EXPECT_EQ(statistics.present.ms.most, 4);
    EXPECT_EQ(statistics.latency.ms.samples, 1U);
    EXPECT_EQ(statistics.latency.ms.most, 40);
}

TEST(PrivacyPlaceholder, IsTheBackgroundWithoutTheRoom) {
    PrivacyPlaceholder placeholder;
    Background background;
    background.kind = Background::Kind::color;
    background.color = {1, 2, 3};
    const auto color = placeholder.over(background, {4, 2});
    EXPECT_EQ(firstPixel(*color)[2], 3);
    EXPECT_EQ(firstPixel(*color)[3], 255);

    background.kind = Background::Kind::transparent;
    EXPECT_EQ(firstPixel(*placeholder.over(background, {4, 2}))[3], 0);

    auto red = std::make_shared<Image>(Size{2, 2}, PixelFormat::rgba8);
    for (int i = 0; i < 16; ++i) red->row(0)[i] = i % 4 == 0 || i % 4 == 3 ? 255 : 0;
    background.kind = Background::Kind::image;
    background.image = red;
    const auto picture = placeholder.over(background, {4, 2});
    EXPECT_EQ(firstPixel(*picture)[0], 255);
    EXPECT_EQ(firstPixel(*picture)[1], 0);

    background.kind = Background::Kind::blur;  // the blurred room is the room still
    const auto blur = placeholder.over(background, {4, 2});
    EXPECT_LT(firstPixel(*blur)[0], 64);
    EXPECT_EQ(firstPixel(*blur)[3], 255);
}

TEST(PrivacyPlaceholder, IsMadeAnewOnlyWhenItLooksDifferent) {
    PrivacyPlaceholder placeholder;
    Background blur;
    const auto first = placeholder.over(blur, {4, 2});
    blur.blurStrength = 80;
    EXPECT_EQ(placeholder.over(blur, {4, 2}), first);
    EXPECT_NE(placeholder.over(blur, {5, 2}), first);
}

TEST(Recent, GivesPercentilesOfTheNewestByTheNearestRank) {
    Recent recent;
    EXPECT_EQ(recent.percentiles().samples, 0U);
    for (int i = 1; i <= 100; ++i) recent.add(float(i));
    const Percentiles percentiles = recent.percentiles();
    EXPECT_FLOAT_EQ(percentiles.p50, 50);
    EXPECT_FLOAT_EQ(percentiles.p95, 95);
    EXPECT_FLOAT_EQ(percentiles.p99, 99);
    EXPECT_FLOAT_EQ(percentiles.most, 100);
    for (std::size_t i = 0; i < Recent::kSamples; ++i) recent.add(7);
    EXPECT_FLOAT_EQ(recent.percentiles().most, 7);
    EXPECT_FLOAT_EQ(recent.newest(), 7);
}

TEST(Recent, CountsWhatIsTooLongInTheLastBin) {
    Recent recent;
    for (const float sample : {0.5F, 1.5F, 1.6F, 99.0F, -1.0F}) recent.add(sample);
    EXPECT_EQ((recent.histogram<4>(4)), (std::array<int, 4>{2, 2, 0, 1}));
}

TEST(Trace, WritesWhatTraceViewersRead) {
    const test::ScratchFolder folder;
    const auto path = folder / "trace.json";
    Trace trace(path);
    { const Trace::Span span(&trace, "worker", "take", 7); }
    trace.add("worker", "a name that is longer than a trace keeps \"quoted\"", {}, {}, 8);
    { const Trace::Span none(nullptr, "worker", "nothing"); }
    trace.finish();
    std::ifstream file(path);
    const auto json = nlohmann::json::parse(file);
    const auto& events = json.at("traceEvents");
    ASSERT_EQ(events.size(), 3U);  // the track's name, then the spans
    EXPECT_EQ(events[0].at("args").at("name"), "worker");
    EXPECT_EQ(events[1].at("name"), "take");
    EXPECT_EQ(events[1].at("ph"), "X");
    EXPECT_EQ(events[1].at("args").at("frame"), 7);
    EXPECT_GE(events[1].at("dur").get<double>(), 0);
}

TEST(Trace, RefusesAFolderThatDoesNotExistBeforeAnythingIsRecorded) {
    EXPECT_THROW(Trace("/nowhere/at/all/trace.json"), Error);
}

TEST(Trace, HoldsNobodyUpWhileItIsWritten) {
    const test::ScratchFolder folder;
    const auto path = folder / "trace.json";
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    Trace trace(path);
    const auto now = std::chrono::steady_clock::now();
    for (int i = 0; i < 5000; ++i) trace.add("worker", "submit", now, now, 1);
    auto written = std::async(std::launch::async, [&] { trace.finish(); });
    const int reader = ::open(path.c_str(), O_RDONLY);  // once it is being written, and more than a pipe holds
    ASSERT_GE(reader, 0);
    auto added = std::async(std::launch::async, [&] { trace.add("worker", "submit", now, now, 2); });
    EXPECT_EQ(added.wait_for(std::chrono::seconds(3)), std::future_status::ready);
    std::array<char, 4096> bytes{};
    while (::read(reader, bytes.data(), bytes.size()) > 0) continue;
    ::close(reader);
    written.get();
    EXPECT_EQ(trace.spans(), 5001U);
}

TEST(Trace, OnAFullDiskSaysSoAndCanBeWrittenLater) {
    const test::ScratchFolder folder;
    Trace trace(folder / "trace.json");
    trace.add("worker", "take", {}, {}, 1);
    struct rlimit before {};
    ::getrlimit(RLIMIT_FSIZE, &before);
    struct rlimit none = before;
    none.rlim_cur = 0;
    const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &none);
    EXPECT_THROW(trace.finish(), Error);
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, ignored);
    EXPECT_EQ(folder.names(), std::vector<std::string>{});
    trace.finish();
    EXPECT_EQ(folder.names(), std::vector<std::string>{"trace.json"});
}

}  // namespace
}  // namespace matte
