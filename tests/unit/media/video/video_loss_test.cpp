// SPDX-License-Identifier: Apache-2.0
// Whatever of a video can't be read is counted, and nothing of a whole one is: cut, damaged, on a disk that fails, in
// every form.
#include <algorithm>
#include <filesystem>
#include <functional>

#include <gtest/gtest.h>

#include "inference/core/error.h"
#include "inference/media/frame_source.h"
#include "inference/media/image/image_file.h"
#include "inference/media/video/video_reader.h"
#include "inference/media/video/video_source.h"
#include "inference/media/video/video_writer.h"
#include "tests/support/files/model_file.h"
#include "tests/support/files/scratch_folder.h"
#include "tests/support/files/video_file.h"
#include "tests/support/running/faulty_ffmpeg.h"

namespace matte {
namespace {

namespace fs = std::filesystem;
using test::FaultyFfmpeg;

struct Read {
    std::uint64_t frames = 0;
    Loss loss;
};

Read readAll(const fs::path& path) {
    CaptureSettings settings;
    settings.paced = false;
    const auto source = openVideo(path, settings);
    Read read;
    while (source->read({})) ++read.frames;
    read.loss = source->loss();
    return read;
}

/// Of its sound, when it is copied into another file.
Loss lossOfSound(const fs::path& path, const fs::path& to) {
    VideoWriter writer(to, {.size = {64, 48}, .rate = 25, .soundFrom = path});
    const Image picture({64, 48}, PixelFormat::gray8);
    for (int i = 0; i < 10; ++i) writer.write(picture.view(), std::chrono::duration<double>(i / 25.0));
    writer.finish();
    return writer.loss();
}

class VideoLoss : public testing::Test {
protected:
    static constexpr int kFrames = 60;

    [[nodiscard]] fs::path at(const std::string& name) const { return folder_ / name; }
    /// With sound where the form holds it; what belongs together lies side by side.
    [[nodiscard]] fs::path clip(const std::string& form) const {
        if (form == ".webm") return webm();
        const Size size = form == ".avi" ? Size{640, 480} : Size{96, 64};  // more than what is read to open it
        const auto silent = test::writeVideo(at("silent" + form), kFrames, 25, size);
        return form == ".mov" || form == ".mkv" ? test::withSound(silent, at("clip" + form)) : silent;
    }
    [[nodiscard]] fs::path webm() const {
        VideoWriter writer(at("clip.webm"), {.size = {96, 64}, .rate = 25, .soundFrom = {}});
        Image picture({96, 64}, PixelFormat::gray8);
        for (int i = 0; i < kFrames; ++i) {
            for (std::size_t k = 0; k < picture.bytes(); ++k) picture.row(0)[k] = std::uint8_t((k * k + i * k) >> 4);
            writer.write(picture.view(), std::chrono::duration<double>(i / 25.0));
        }
        writer.finish();
        return at("clip.webm");
    }
    /// A copy of which `change` made something else.
    [[nodiscard]] fs::path changed(const fs::path& path,
                                   const std::function<void(std::vector<std::uint8_t>&)>& change) const {
        auto bytes = test::readBytes(path);
        change(bytes);
        fs::path to = at("changed" + path.extension().string());
        test::writeBytes(to, bytes);
        return to;
    }
    [[nodiscard]] fs::path cut(const fs::path& path, double share) const {
        return changed(path, [&](auto& bytes) { bytes.resize(std::size_t(double(bytes.size()) * share)); });
    }

    test::ScratchFolder folder_;
};

TEST_F(VideoLoss, NothingIsMissingOfAWholeVideo) {
    for (const char* form : {".mp4", ".mov", ".mkv", ".webm", ".avi", ".ts"}) {
        const Read read = readAll(clip(form));
        EXPECT_EQ(read.frames, std::uint64_t(kFrames)) << form;
        EXPECT_EQ(read.loss.sentence("it"), "") << form;
    }
    for (const char* form : {".mov", ".mkv"}) {
        EXPECT_EQ(lossOfSound(clip(form), at("copy.mkv")).sentence("it"), "") << form;
    }
}

// Pauses, sound before and behind the pictures, a beginning in the middle of a group of pictures, and a live recording,
// whose length nobody knows.
TEST_F(VideoLoss, NothingIsMissingOfAWholeVideoThatIsUnusual) {
    const auto silent = test::writeVideo(at("silent.mp4"), kFrames);
    std::vector<double> times;
    times.reserve(kFrames);
    for (int i = 0; i < kFrames; ++i) times.push_back(i / 25.0 + (i > 30 ? 40 : 0));
    for (const char* form : {".mov", ".mkv"}) {
        const std::string name = std::string("a") + form;
        EXPECT_EQ(readAll(test::atTimes(silent, at(name), times, 20)).loss.sentence("it"), "") << form;
        const auto late = test::withSound(silent, at("b" + name), {.later = 2});
        EXPECT_EQ(readAll(late).loss.sentence("it"), "") << form;
    }
    const auto groups = test::writeVideo(at("groups.mkv"), kFrames);
    EXPECT_EQ(readAll(test::withSound(groups, at("part.mkv"), {.missing = 5})).loss.sentence("it"), "");
    const auto live = test::withSound(groups, at("live.mkv"), {.isLive = true});
    EXPECT_EQ(VideoReader::open(live.string(), false, {})->length().count(), 0);
    EXPECT_EQ(readAll(live).loss.sentence("it"), "");
}

// Two recordings in one file: the counters of its packets and its times jump.
TEST_F(VideoLoss, NothingIsMissingOfTwoTransportStreamsInOne) {
    const auto one = test::readBytes(clip(".ts"));
    const auto both = changed(at("silent.ts"), [&](auto& bytes) { bytes.insert(bytes.end(), one.begin(), one.end()); });
    const Read read = readAll(both);
    EXPECT_GE(read.frames, 2U * kFrames - 2);
    EXPECT_EQ(read.loss.sentence("it"), "");
}

TEST_F(VideoLoss, CountsTheFramesOfAVideoThatIsCut) {
    for (const char* form : {".mov", ".mkv", ".webm", ".avi"}) {
        const auto whole = clip(form);
        for (const double share : {0.78, 0.9, 0.5}) {
            const Read read = readAll(cut(whole, share));
            EXPECT_TRUE(read.loss.endsEarly) << form << " " << share;
            EXPECT_GT(read.frames, 5U) << form << " " << share;
            EXPECT_GE(read.loss.frames + read.loss.damagedFrames, 1U) << form << " " << share;
            EXPECT_NEAR(double(read.frames + read.loss.frames), kFrames, 1) << form << " " << share;
        }
    }
}

TEST_F(VideoLoss, SaysThatAVideoOfUnknownLengthIsCut) {
    const auto live = test::withSound(test::writeVideo(at("groups.mkv"), kFrames), at("live.mkv"), {.isLive = true});
    EXPECT_TRUE(readAll(cut(live, 0.78)).loss.endsEarly);
    EXPECT_TRUE(readAll(cut(clip(".ts"), 0.783)).loss.endsEarly);
}

TEST_F(VideoLoss, CountsTheFramesOfADamagedQuarter) {
    for (const char* form : {".mov", ".mkv", ".avi", ".ts"}) {
        const Read read = readAll(changed(clip(form), [](auto& bytes) {
            const auto begin = bytes.begin() + std::ptrdiff_t(bytes.size() / 2);
            std::uint32_t noise = 1;
            std::generate(begin, begin + std::ptrdiff_t(bytes.size() / 4),
                          [&] { return std::uint8_t((noise = noise * 1664525 + 1013904223) >> 24); });
        }));
        EXPECT_LT(read.frames, std::uint64_t(kFrames)) << form;
        EXPECT_GE(read.loss.frames, kFrames / 8U) << form << " " << read.loss.sentence("it");
        EXPECT_NEAR(double(read.frames + read.loss.frames), kFrames, 2) << form;
    }
}

TEST_F(VideoLoss, CountsReadsThatFailAndTheFramesThatTheyCost) {
    for (const char* form : {".mov", ".mkv", ".avi"}) {
        const auto path = clip(form);
        int reads = 0;
        {
            const FaultyFfmpeg faulty({.file = 1, .read = 1 << 30});
            EXPECT_EQ(readAll(path).loss.sentence("it"), "") << form;
            reads = FaultyFfmpeg::reads();
        }
        const FaultyFfmpeg faulty({.file = 1, .read = reads * 3 / 4});
        const Read read = readAll(path);
        EXPECT_GE(read.loss.readErrors, 1U) << form;
        EXPECT_GE(read.loss.frames, 1U) << form;
        EXPECT_GT(read.frames, 5U) << form;
        EXPECT_NEAR(double(read.frames + read.loss.frames), kFrames, 1) << form;
    }
}

// Of a file that has an index, what follows is read all the same.
TEST_F(VideoLoss, OneReadThatFailsCostsNoMoreThanItsFrame) {
    const auto path = clip(".mov");
    const FaultyFfmpeg faulty({.file = 1, .read = 8, .onlyOnce = true});
    const Read read = readAll(path);
    EXPECT_EQ(read.loss.readErrors, 1U);
    EXPECT_GE(read.frames, kFrames - 2U);
    EXPECT_NEAR(double(read.frames + read.loss.frames), kFrames, 1);
}

TEST_F(VideoLoss, CountsTheSoundThatIsMissing) {
    for (const char* form : {".mov", ".mkv"}) {
        const auto whole = clip(form);
        const Loss loss = lossOfSound(cut(whole, 0.78), at("copy.mkv"));
        EXPECT_GE(loss.soundPackets, 10U) << form;
        EXPECT_TRUE(loss.endsEarly) << form;
        EXPECT_FALSE(test::soundOf(at("copy.mkv")).empty()) << "what there is of it is there";
    }
}

TEST_F(VideoLoss, SaysThatTheSoundCouldNotBeRead) {
    const auto whole = clip(".mov");
    const FaultyFfmpeg faulty({.file = 1, .read = 1});
    const Loss loss = lossOfSound(whole, at("copy.mkv"));
    EXPECT_TRUE(loss.any());
    EXPECT_NE(loss.sentence("it"), "");
}

TEST_F(VideoLoss, CountsTheSoundThatTheResultDoesNotTake) {
    const auto silent = test::writeVideo(at("silent.mp4"), kFrames);
    const auto shared = test::withSound(silent, at("loud.mkv"), {.sharesTime = 2});
    const Loss loss = lossOfSound(shared, at("copy.mov"));
    EXPECT_NEAR(double(loss.soundUnwritten), double(test::soundOf(shared).size()) / 2, 1);
}

// As where a damaged header makes its times so short that all of it comes before the first picture.
TEST_F(VideoLoss, CountsASoundThatIsOverBeforeThePicturesBegin) {
    const auto whole = clip(".mov");
    VideoWriter writer(at("a.mov"), {.size = {64, 48}, .soundFrom = whole, .soundBegin = std::chrono::hours(1)});
    writer.write(Image({64, 48}, PixelFormat::gray8).view(), {});
    writer.finish();
    EXPECT_EQ(writer.loss().soundUnwritten, test::soundOf(whole).size());
}

TEST_F(VideoLoss, SaysThatAnotherEncoderTookThePlaceOfOneThatFailed) {
    const VideoForm form{.size = {64, 48}, .rate = 25, .soundFrom = {}};
    const std::string path = at("a.mp4").string();
    EXPECT_EQ(VideoWriter(path, form).loss().sentence("it"), "");
    const FaultyFfmpeg faulty({.encoder = "libx264"});
    const VideoWriter writer(path, form);
    EXPECT_EQ(writer.loss().encoderProblem.find(path + " was encoded by "), 0U) << writer.loss().encoderProblem;
    EXPECT_NE(writer.loss().encoderProblem.find("because libx264 failed."), std::string::npos);
}

TEST_F(VideoLoss, TheWorstOfSeveralPassesCounts) {
    const auto path = cut(clip(".mov"), 0.78);
    const auto reader = VideoReader::open(path.string(), false, {});
    for (int pass = 0; pass < 2; ++pass) {
        while (reader->grab()) continue;
        EXPECT_GE(reader->loss().frames, 5U);
        ASSERT_TRUE(reader->rewind());
        EXPECT_GE(reader->loss().frames, 5U) << "in the middle of the next";
    }
}

TEST_F(VideoLoss, CountsThePicturesOfAFolderThatCanNotBeRead) {
    const Image picture({8, 8}, PixelFormat::bgr8);
    for (const char* name : {"a.png", "c.png"}) writeImage(at(name), picture.view());
    test::writeBytes(at("b.png"), std::vector<std::uint8_t>{1, 2, 3});
    CaptureSettings settings;
    settings.paced = false;
    const auto source = openSource(parseSource(folder_.path().string()), settings);
    while (source->read({})) continue;
    EXPECT_EQ(source->loss().frames, 1U);
    EXPECT_EQ(source->loss().ofFrames, 3U);
}

}  // namespace
}  // namespace matte
