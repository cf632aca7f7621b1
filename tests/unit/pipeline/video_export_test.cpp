// SPDX-License-Identifier: Apache-2.0
// A whole video gets another background: each of its frames at its time, before the background's frame of that time.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "inference/core/error.h"
#include "inference/media/background_file.h"
#include "inference/media/video/video_reader.h"
#include "inference/pipeline/video_export.h"
#include "tests/support/engines/counting_network.h"
#include "tests/support/engines/cpu_engine.h"
#include "tests/support/files/scratch_folder.h"
#include "tests/support/files/video_file.h"

namespace matte {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<LiveEngine> smallEngine() {
    return test::tinyEngine({.threads = 2, .networkLongestSide = 64});
}

/// In the memory of a device that may be lost before somebody fetches it.
class DevicesPicture final : public Picture {
public:
    DevicesPicture(std::shared_ptr<const Picture> made, bool isLost) : made_(std::move(made)), isLost_(isLost) {}
    [[nodiscard]] Size size() const override { return made_->size(); }
    [[nodiscard]] std::shared_ptr<const Image> image() const override {
        if (isLost_) throw DeviceFailure("The GPU fell off the bus.", true);
        return made_->image();
    }

private:
    std::shared_ptr<const Picture> made_;
    bool isLost_;
};

/// A GPU with three slots that falls off the bus, and then another engine goes on; or one whose model gives no mattes.
class FaultyGpu final : public LiveEngine {
public:
    struct Faults {
        int takes = kNever, fetches = kNever;              ///< so many work
        int firstWithoutMatte = kNever, withoutMatte = 0;  ///< of the frames
        MatteFault matteFault = MatteFault::notFinite;     ///< of these
    };
    static constexpr int kNever = 1 << 20;
    explicit FaultyGpu(const Faults& faults) : faults_(faults) {}

    [[nodiscard]] EngineInfo info() const override { return {EngineKind::cuda, "a GPU", "", {}}; }
    [[nodiscard]] PixelMemory frameMemory() const override {
        return {[](std::size_t bytes) {
                    mostFrames = std::max(mostFrames, ++frames);
                    return static_cast<std::uint8_t*>(std::malloc(bytes));
                },
                [](std::uint8_t* pixels) {
                    --frames;
                    std::free(pixels);
                }};
    }
    static inline int frames = 0, mostFrames = 0;  ///< in its memory
    [[nodiscard]] int slots() const override { return 3; }
    bool submit(const Frame& frame, const CompositeParams& params) override {
        if (int(waiting_.size()) >= slots()) return false;
        waiting_.emplace_back(frame, params);
        return true;
    }
    Output take() override {
        failIf(taken_ >= faults_.takes);
        works_->submit(waiting_.front().first, waiting_.front().second);
        waiting_.pop_front();
        Output output = works_->take();
        output.picture = std::make_shared<DevicesPicture>(output.picture, taken_ >= faults_.fetches);
        const int first = faults_.firstWithoutMatte;
        if (taken_ >= first && taken_ < first + faults_.withoutMatte) output.matteFault = faults_.matteFault;
        ++taken_;
        return output;
    }
    void drop() override { waiting_.clear(); }
    void reset() override { waiting_.clear(); }
    [[nodiscard]] std::vector<LayerInfo> layers() const override { return {}; }
    void timeLayers(bool) override {}

private:
    static void failIf(bool failed) {
        if (failed) throw DeviceFailure("The GPU fell off the bus.", true);
    }
    Faults faults_;
    std::unique_ptr<LiveEngine> works_ = smallEngine();
    std::deque<std::pair<Frame, CompositeParams>> waiting_;
    int taken_ = 0;
};

/// Nobody is seen, or everybody: the composite is the background alone, or the video.
CompositeParams nobody(const std::string& background) {
    CompositeParams params;
    params.background = parseBackground(background);
    params.threshold = 1;
    params.softness = 0;
    return params;
}
CompositeParams everybody(const std::string& background) {
    CompositeParams params = nobody(background);
    params.threshold = 0;
    params.decontaminate = params.removeSmallRegions = false;
    return params;
}

/// Which of writeVideo()'s frames each picture of a video is.
std::vector<int> framesIn(const fs::path& path) {
    std::vector<int> numbers;
    const auto reader = VideoReader::open(path.string(), false, {});
    if (!reader) return numbers;
    Image image(reader->size(), PixelFormat::bgr8);
    while (reader->grab() && reader->retrieve(image)) numbers.push_back(test::videoFrameIn(image));
    return numbers;
}

class VideoExportTest : public testing::Test {
protected:
    [[nodiscard]] fs::path at(const char* name) const { return folder_ / name; }
    VideoExportResult run(const VideoExport& job) {
        return exportVideo(makeEngines_(), job, [this](std::uint64_t done, double of) { last_ = {done, of}; });
    }

    void useGpu(const FaultyGpu::Faults& faults) {
        makeEngines_ = [faults] {
            return LiveEngines(std::make_unique<FaultyGpu>(faults), [](const std::string&) { return smallEngine(); });
        };
    }

    test::ScratchFolder folder_;
    MakeLiveEngines makeEngines_ = smallEngine;
    std::pair<std::uint64_t, double> last_;
};

TEST_F(VideoExportTest, WritesEveryFrameAtItsTime) {
    const auto input = test::writeVideo(at("in.mp4"), 12, 25);
    const auto result = run({input, at("out.mp4"), everybody("color:#00ff00")});
    EXPECT_EQ(framesIn(at("out.mp4")), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
    EXPECT_EQ(result.frames, 12U);
    EXPECT_EQ(result.size, (Size{96, 64}));
    EXPECT_NEAR(result.seconds, 12 / 25.0, 0.002);
    EXPECT_EQ(result.problem, "");
    EXPECT_EQ(last_.first, 12U);
    EXPECT_EQ(last_.second, 12);
}

TEST_F(VideoExportTest, ARecurrentNetworkKeepsItsStateOverTheFrames) {
    test::NetworkRuns runs;
    makeEngines_ = [&] {
        auto engine = std::make_unique<CpuEngine>(std::make_unique<test::CountingNetwork>(runs), EngineOptions{}, "");
        runs.before.clear();
        return LiveEngines(std::move(engine));
    };
    const auto input =
        test::atTimes(test::writeVideo(at("in.mp4"), 6, 25), at("times.mov"), {0, 0.04, 0.08, 1, 2, 3}, 4);
    run({input, at("out.mp4"), nobody("color:#00ff00")});
    EXPECT_EQ(runs.before, (std::vector<float>{0, 1, 2, 3, 4, 5})) << "through pauses too";
}

// A video behind the person that has fewer pictures a second, and is shorter, is begun again.
TEST_F(VideoExportTest, ShowsTheBackgroundsFrameOfThatTime) {
    const auto input = test::writeVideo(at("in.mp4"), 12, 25);
    test::writeVideo(at("behind.mp4"), 4, 12.5);
    CompositeParams params = nobody("video:" + at("behind.mp4").string());
    readBackground(params.background);
    run({input, at("out.mp4"), params});
    EXPECT_EQ(framesIn(at("out.mp4")), (std::vector<int>{0, 0, 1, 1, 2, 2, 3, 3, 0, 0, 1, 1}));
}

TEST_F(VideoExportTest, WritesTheMatteAlone) {
    const auto input = test::writeVideo(at("in.mp4"), 5, 25);
    run({input, at("all.mp4"), everybody("blur"), true});
    run({input, at("none.mp4"), nobody("blur"), true});
    for (const auto& [name, level] : {std::pair("all.mp4", 255), std::pair("none.mp4", 0)}) {
        const auto reader = VideoReader::open(at(name).string(), false, {});
        Image image(reader->size(), PixelFormat::bgr8);
        for (int i = 0; i < 5; ++i) {
            ASSERT_TRUE(reader->grab() && reader->retrieve(image)) << name;
            for (int c = 0; c < 3; ++c) EXPECT_NEAR(image.row(32)[48 * 3 + c], level, 2) << name;
        }
        EXPECT_FALSE(reader->grab());
    }
}

TEST_F(VideoExportTest, TakesTheSoundAlong) {
    const auto input = test::withSound(test::writeVideo(at("silent.mp4"), 10, 25), at("in.mov"));
    run({input, at("out.mov"), everybody("blur")});
    EXPECT_FALSE(test::soundOf(at("out.mov")).empty());
    run({input, at("matte.mov"), everybody("blur"), true});
    EXPECT_TRUE(test::soundOf(at("matte.mov")).empty());
}

TEST_F(VideoExportTest, KeepsPausesAndHowLongTheLastPictureLasts) {
    const auto input = test::atTimes(test::writeVideo(at("even.mp4"), 4, 25), at("in.mov"), {0, 0.04, 30, 31}, 5);
    for (const char* name : {"out.mp4", "out.mov", "out.mkv", "out.webm"}) {
        EXPECT_NEAR(run({input, at(name), everybody("color:#00ff00")}).seconds, 36, 0.1) << name;
        const auto reader = VideoReader::open(at(name).string(), false, {});
        ASSERT_TRUE(reader) << name;
        EXPECT_NEAR(reader->length().count(), 36, 0.1) << name;
        for (const double time : {0.0, 0.04, 30.0, 31.0}) {
            ASSERT_TRUE(reader->grab()) << name;
            EXPECT_NEAR(reader->time()->count(), time, 0.002) << name;
        }
    }
}

// As when a recording was cut without being encoded anew.
TEST_F(VideoExportTest, KeepsTheSoundInTimeWhereTheFirstPicturesCanNotBeDecoded) {
    const auto input = test::withSound(test::writeVideo(at("whole.mkv"), 30, 25), at("in.mkv"), {.missing = 5});
    const auto result = run({input, at("out.mkv"), everybody("color:#00ff00")});
    EXPECT_EQ(result.problem, "");
    const auto frames = framesIn(at("out.mkv"));
    ASSERT_FALSE(frames.empty());
    ASSERT_EQ(frames.front(), 9) << "the first that can be decoded by itself";
    const auto sound = test::soundOf(at("out.mkv"));
    ASSERT_FALSE(sound.empty());
    for (const auto& packet : sound) {
        EXPECT_NEAR(packet.sample, (packet.time + 9 / 25.0) * test::kSoundRate, 0.02 * test::kSoundRate);
    }
}

TEST_F(VideoExportTest, KeepsWhatCouldBeReadOfABrokenVideo) {
    const auto whole = test::readBytes(test::withSound(test::writeVideo(at("silent.mp4"), 40, 25), at("whole.mov")));
    test::writeBytes(at("cut.mov"), std::span(whole).first(whole.size() * 78 / 100));
    const auto result = run({at("cut.mov"), at("out.mov"), everybody("blur")});
    EXPECT_FALSE(result.isWhole());
    EXPECT_GT(result.frames, 5U);
    EXPECT_EQ(framesIn(at("out.mov")).size(), result.frames);
    EXPECT_EQ(result.loss.frames, 40 - result.frames);
    EXPECT_GT(result.loss.soundPackets, 0U);
    EXPECT_EQ(result.problem.find(std::to_string(result.loss.frames) + " of 40 frames and "), 0U) << result.problem;
    EXPECT_NE(result.problem.find(": the file ends early. The result has the others."), std::string::npos)
        << result.problem;
}

TEST_F(VideoExportTest, SaysWhatIsMissingOfTheVideoBehind) {
    const auto input = test::writeVideo(at("in.mp4"), 12, 25);
    const auto whole = test::readBytes(test::writeVideo(at("whole.avi"), 40, 80));
    test::writeBytes(at("behind.avi"), std::span(whole).first(whole.size() / 2));
    CompositeParams params = nobody("video:" + at("behind.avi").string());
    readBackground(params.background);
    const auto result = run({input, at("out.mp4"), params});
    EXPECT_EQ(result.frames, 12U);
    EXPECT_FALSE(result.isWhole());
    EXPECT_GT(result.backgroundLoss.frames, 0U);
    EXPECT_NE(result.problem.find(" of behind.avi could not be read"), std::string::npos) << result.problem;
}

TEST_F(VideoExportTest, CountsTheFramesAfterAChangeOfSize) {
    auto both = test::readBytes(test::writeVideo(at("a.ts"), 10));
    const auto other = test::readBytes(test::writeVideo(at("b.ts"), 10, 25, {64, 96}));
    both.insert(both.end(), other.begin(), other.end());
    test::writeBytes(at("both.ts"), both);
    const auto result = run({at("both.ts"), at("out.mp4"), everybody("blur")});
    EXPECT_FALSE(result.isWhole());
    EXPECT_NE(result.problem.find("changes its size on the way"), std::string::npos) << result.problem;
    EXPECT_NE(result.problem.find("The result has the " + std::to_string(result.frames) + " frames before."),
              std::string::npos)
        << result.problem;
}

// The processor takes one frame at a time, and the others do not pile up before it.
TEST_F(VideoExportTest, GoesOnWhenTheGpuIsLost) {
    const auto input = test::writeVideo(at("in.mp4"), 40, 25);
    useGpu({.takes = 4});
    FaultyGpu::mostFrames = 0;
    const VideoExportResult result = run({input, at("out.mp4"), everybody("color:#00ff00")});
    EXPECT_EQ(result.frames, 40U);
    const auto written = framesIn(at("out.mp4"));
    ASSERT_EQ(written.size(), 40U);
    for (int i = 0; i < 40; ++i) EXPECT_EQ(written[std::size_t(i)], i % 20);
    EXPECT_EQ(result.engine.reason, "The GPU fell off the bus.");
    EXPECT_LE(FaultyGpu::mostFrames, 10) << "frames pile up before the processor";
}

TEST_F(VideoExportTest, MakesAPictureAgainThatTheGpuLostBeforeItWasFetched) {
    const auto input = test::writeVideo(at("in.mp4"), 12, 25);
    useGpu({.fetches = 4});
    EXPECT_EQ(run({input, at("out.mp4"), everybody("color:#00ff00")}).frames, 12U);
    EXPECT_EQ(framesIn(at("out.mp4")), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
}

TEST_F(VideoExportTest, SaysWhichPicturesHaveNoMatte) {
    const auto input = test::writeVideo(at("in.mp4"), 12, 25);
    const VideoExport job{input, at("out.mp4"), everybody("color:#00ff00")};
    useGpu({.firstWithoutMatte = 2, .withoutMatte = 3});
    EXPECT_EQ(run(job).matteProblem,
              "3 of 12 pictures show the background alone, because the model's values for them "
              "are not finite: try another model.");
    fs::remove(at("out.mp4"));
    useGpu({.firstWithoutMatte = 9, .withoutMatte = 2, .matteFault = MatteFault::everything});
    EXPECT_EQ(run(job).matteProblem,
              "2 of 12 pictures show the background alone, because the model's mattes suddenly cover the whole "
              "picture: try another model.");
    fs::remove(at("out.mp4"));
    useGpu({.firstWithoutMatte = 0, .withoutMatte = 12});
    EXPECT_THROW(run(job), NoMatte);
    EXPECT_FALSE(fs::exists(at("out.mp4")));
}

TEST_F(VideoExportTest, RefusesAndLeavesNothing) {
    const auto input = test::writeVideo(at("in.mp4"), 5, 25);
    const auto before = test::readBytes(input);
    const auto refusal = [&](const VideoExport& job) -> std::string {
        try {
            run(job);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    const CompositeParams params = everybody("blur");
    EXPECT_EQ(refusal({input, input, params}),
              input.string() + " would replace a file that is read: give the result another name.");
    fs::create_symlink(input, at("link.mp4"));
    EXPECT_NE(refusal({input, at("link.mp4"), params}), "");
    EXPECT_EQ(test::readBytes(input), before);
    EXPECT_EQ(refusal({at("none.mp4"), at("out.mp4"), params}),
              "There is no file " + at("none.mp4").string() + ": check its name.");
    EXPECT_NE(refusal({input, at("out.mp4"), everybody("transparent")}).find("can't be transparent"),
              std::string::npos);
    EXPECT_FALSE(fs::exists(at("out.mp4")));
}

TEST_F(VideoExportTest, LeavesNothingWhenItIsStopped) {
    const auto input = test::writeVideo(at("in.mp4"), 12, 25);
    std::stop_source stop;
    const auto stopAfterThree = [&](std::uint64_t done, double) {
        if (done == 3) stop.request_stop();
    };
    EXPECT_THROW(
        exportVideo(makeEngines_(), {input, at("out.mp4"), everybody("blur")}, stopAfterThree, stop.get_token()),
        Cancelled);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1) << "only the video itself";
}

}  // namespace
}  // namespace matte
