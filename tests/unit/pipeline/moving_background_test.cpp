// SPDX-License-Identifier: Apache-2.0
// A video behind a live person: each frame of the camera stands before the video's newest, for as long as both run.
#include <chrono>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "inference/core/parallel.h"
#include "inference/pipeline/pipeline.h"
#include "tests/support/engines/cpu_engine.h"
#include "tests/support/engines/scripted_live.h"
#include "tests/support/files/scratch_folder.h"
#include "tests/support/files/video_file.h"
#include "tests/support/running/eventually.h"

namespace matte {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using test::videoFrameIn;

int threadsOfProcess() {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return int(std::distance(begin(tasks), end(tasks)));
}

std::unique_ptr<Engine> cpuEngine() {
    return test::tinyEngine({.kind = EngineKind::cpu, .threads = 2, .networkLongestSide = 64});
}

/// Nobody is seen, so that a composite is the background alone.
CompositeParams nobody() {
    CompositeParams params;
    params.background.kind = Background::Kind::image;
    params.background.color = {1, 2, 3};
    params.background.moving = true;
    params.threshold = 1;
    params.softness = 0;
    return params;
}

Frame grey(Size size, std::uint64_t number) {
    auto image = std::make_shared<Image>(size, PixelFormat::bgr8);
    std::fill_n(image->row(0), image->bytes(), std::uint8_t(90));
    return {image, number, std::chrono::steady_clock::now()};
}

std::shared_ptr<const Image> red(int level) {
    auto image = std::make_shared<Image>(Size{30, 20}, PixelFormat::bgr8);
    for (std::size_t i = 0; i < image->bytes(); ++i) image->row(0)[i] = i % 3 == 2 ? std::uint8_t(level) : 0;
    return image;
}

TEST(MovingBackground, EachFrameOnTheCpuStandsBeforeItsOwnPicture) {
    const auto engine = cpuEngine();
    CompositeParams params = nobody();
    for (const Placement placement : {Placement::fill, Placement::fit, Placement::stretch}) {
        params.background.placement = placement;
        for (int level = 10; level < 250; level += 60) {
            params.background.image = red(level);
            engine->submit(grey({48, 48}, std::uint64_t(level)), params);
            const auto shown = engine->take().picture->image();
            const std::uint8_t* middle = shown->row(24) + std::ptrdiff_t(4) * 24;
            EXPECT_NEAR(middle[0], level, 1);
            EXPECT_LE(middle[2], 1);
            EXPECT_EQ(shown->row(0)[2], placement == Placement::fit ? 3 : 0) << "the bars have the colour";
        }
    }
}

TEST(MovingBackground, ThePictureIsLaidAgainOnlyWhenItIsAnother) {
    const auto engine = cpuEngine();
    CompositeParams params = nobody();
    params.background.image = red(100);
    const auto laid = [&](std::uint64_t number) {
        engine->submit(grey({48, 48}, number), params);
        const StageTimes times = engine->take().times;
        return std::ranges::find(times, Stage::plate, &StageTime::stage) != times.end();
    };
    EXPECT_TRUE(laid(0));
    EXPECT_FALSE(laid(1));
    params.background.image = red(101);
    EXPECT_TRUE(laid(2));
    EXPECT_FALSE(laid(3));
}

struct MovingLive : ::testing::Test {
    test::ScratchFolder folder;
    test::FrameFeed feed;
    Pipeline pipeline{cpuEngine, [] {}};

    void start(const CompositeParams& params) {
        pipeline.setParams(params);
        pipeline.start([this](PixelMemory, std::stop_token) { return feed.open(); });
    }
    /// The picture of one more frame from the camera.
    std::shared_ptr<const Image> next() {
        const auto before = pipeline.statistics().framesOut;
        feed.push(64, 48);
        EXPECT_TRUE(eventually([&] { return pipeline.statistics().framesOut > before; }));
        const auto live = pipeline.newest();
        return live && !live->placeholder ? live->picture->image() : nullptr;
    }
};

TEST_F(MovingLive, FramesStandBeforeTheVideosNewest) {
    CompositeParams params = nobody();
    params.background.imagePath = test::writeVideo(folder / "a.mp4", 5, 50).string();
    start(params);
    std::set<int> seen;
    EXPECT_TRUE(eventually([&] {
        const auto shown = next();
        if (!shown) return false;
        seen.insert(videoFrameIn(*shown));
        return seen.count(0) && seen.count(2) && seen.count(4);
    }));
    EXPECT_LE(seen.size(), 6U) << "five frames, and the colour before the first";
    EXPECT_EQ(pipeline.status().backgroundProblem, "");
}

TEST_F(MovingLive, BeforeTheVideosFirstFrameTheColourIsShownAndWhatIsWrongIsSaid) {
    CompositeParams params = nobody();
    params.background.imagePath = (folder / "none.mp4").string();
    start(params);
    for (int i = 0; i < 3; ++i) {
        const auto shown = next();
        ASSERT_TRUE(shown);
        EXPECT_EQ(shown->row(0)[0], 1);
        EXPECT_EQ(shown->row(0)[2], 3);
    }
    EXPECT_TRUE(eventually([&] {
        (void)next();
        return pipeline.status().backgroundProblem.find("none.mp4") != std::string::npos;
    }));
    params.background = {};
    pipeline.setParams(params);
    (void)next();
    EXPECT_EQ(pipeline.status().backgroundProblem, "");
}

TEST_F(MovingLive, TheVideosThreadsEndWithTheSourceOrTheBackground) {
    CompositeParams color;
    color.background = parseBackground("color:#102030");
    start(color);
    (void)next();
    parallelFor(2, 1, [](int, int, int) {});  // its helper stays
    int before = 0, looks = 0;                // some of the tests before this one may still be ending
    ASSERT_TRUE(eventually([&] {
        const int now = threadsOfProcess();
        looks = now == std::exchange(before, now) ? looks + 1 : 0;
        return looks == 300;
    }));
    CompositeParams moving = nobody();
    moving.background.imagePath = test::writeVideo(folder / "a.mp4", 5, 25).string();
    const auto plays = [&] {
        const auto shown = next();
        return shown && videoFrameIn(*shown) >= 0 && threadsOfProcess() > before;
    };
    pipeline.setParams(moving);
    EXPECT_TRUE(eventually(plays));
    pipeline.setParams(color);
    EXPECT_TRUE(eventually([&] { return threadsOfProcess() == before; }));
    pipeline.setParams(moving);
    EXPECT_TRUE(eventually(plays));
    pipeline.stop();
    EXPECT_TRUE(eventually([&] { return threadsOfProcess() == before; }));
    start(moving);
    EXPECT_TRUE(eventually(plays)) << "it does not play again";
}

}  // namespace
}  // namespace matte
