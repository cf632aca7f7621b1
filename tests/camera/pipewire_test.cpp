// SPDX-License-Identifier: Apache-2.0
// Cameras beside a real PipeWire and WirePlumber: listed, captured, unplugged, plugged in again, silent, busy, damaged.
// Run by with_pipewire.sh. How long each takes is printed.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <thread>

#include <gtest/gtest.h>
#include <spa/param/video/raw.h>

#include "inference/core/error.h"
#include "inference/media/capture/pipewire/pipewire_connection.h"
#include "inference/media/frame_convert.h"
#include "tests/camera/fake_camera.h"
#include "tests/support/files/h264_clip.h"
#include "tests/support/running/eventually.h"

namespace matte {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using test::FakeCamera;
using test::FakeCameraOptions;
using Clock = std::chrono::steady_clock;

double msSince(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// Grey level, or Y, of the middle.
int levelOf(const Image& image) {
    const Size size = image.size();
    const std::uint8_t* row = image.row(size.height / 2);
    switch (image.format()) {
        case PixelFormat::yuyv: return row[size.width / 2 * 2];
        case PixelFormat::nv12: return row[size.width / 2];
        case PixelFormat::bgr8: return row[size.width / 2 * 3];
        default: return row[size.width / 2 * 4];
    }
}

std::unique_ptr<FrameSource> open(const std::string& name, CaptureSettings settings = {}) {
    auto source = openPipeWireCamera(name, settings);
    if (!source) throw std::runtime_error("PipeWire has no camera");
    return source;
}

std::string refusal(const std::string& name, const CaptureSettings& settings = {}) {
    try {
        (void)open(name, settings);
    } catch (const Error& error) {
        EXPECT_EQ(error.category, ErrorCategory::source);
        return error.what();
    }
    return "";
}

/// The sentence that ends a reading, and how long it took.
std::string lossOf(FrameSource& source) {
    try {
        while (source.read({})) continue;
    } catch (const Error& error) {
        EXPECT_EQ(error.category, ErrorCategory::source);
        return error.what();
    }
    return "";
}

TEST(PipeWire, ListsACameraAndTellsOfItsRemoval) {
    PipeWireConnection pipewire({}, true);
    ASSERT_TRUE(pipewire.waitUntilKnown(5s));
    ASSERT_TRUE(pipewire.cameras().empty());
    std::optional<FakeCamera> camera;
    const std::vector<CameraMode> modes{
        {Encoding::yuyv, {1920, 1080}, {5}}, {Encoding::mjpg, {1280, 720}, {30}}, {Encoding::yuyv, {640, 480}, {30}}};
    const auto plugged = Clock::now();
    camera.emplace(FakeCameraOptions{.modes = modes});
    const auto hasModes = [&] {
        const auto cameras = pipewire.cameras();
        return cameras.size() == 1 && !cameras[0].modes.empty();
    };
    ASSERT_TRUE(eventually(hasModes));
    const double listed = msSince(plugged);
    EXPECT_EQ(pipewire.cameras()[0], (CameraInfo{"fakecam", "FakeCam", modes}));
    const auto unplugged = Clock::now();
    camera.reset();
    ASSERT_TRUE(eventually([&] { return pipewire.cameras().empty(); }));
    const double gone = msSince(unplugged);
    std::printf("listed after %.0f ms, gone after %.0f ms\n", listed, gone);
}

TEST(PipeWire, CallsBackWhenCamerasComeAndGo) {
    std::atomic<int> calls{0};
    PipeWireConnection pipewire([&] { ++calls; }, true);
    ASSERT_TRUE(pipewire.waitUntilKnown(5s));
    int before = calls;
    std::optional<FakeCamera> camera;
    camera.emplace(FakeCameraOptions{});
    ASSERT_TRUE(eventually([&] { return !pipewire.cameras().empty(); }));
    EXPECT_GT(calls, before);
    before = calls;
    camera.reset();
    ASSERT_TRUE(eventually([&] { return pipewire.cameras().empty(); }));
    ASSERT_TRUE(eventually([&] { return calls > before; }));
}

TEST(PipeWire, TellsTwoOfOneModelApart) {
    FakeCamera left({.id = "usb-1", .name = "Webcam"}), right({.id = "usb-2", .name = "Webcam"});
    FakeCamera odd({.id = "usb-1", .name = "Webcam"});  // even when the place says nothing
    PipeWireConnection pipewire({}, false);
    ASSERT_TRUE(eventually([&] { return pipewire.cameras().size() == 3; }));
    const auto cameras = pipewire.cameras();
    EXPECT_EQ(cameras[0].name, "Webcam");
    EXPECT_EQ(cameras[1].name, "Webcam (2)");
    EXPECT_EQ(cameras[2].name, "Webcam (3)");
    EXPECT_NE(cameras[0].id, cameras[1].id);
    EXPECT_EQ(cameras[2].id, "usb-2");
    EXPECT_EQ(open("Webcam (3)")->info().name, "Webcam (3)");
}

class Capture : public testing::TestWithParam<CameraMode> {};

TEST_P(Capture, GivesEveryPictureAtItsRate) {
    const CameraMode mode = GetParam();
    FakeCamera camera({.modes = {{Encoding::yuyv, {320, 240}, {15}}, mode}});
    const auto opened = Clock::now();
    CaptureSettings settings;
    settings.encoding = mode.encoding;
    settings.size = mode.size;
    const auto source = open("FakeCam", settings);
    auto frame = source->read({});
    ASSERT_TRUE(frame);
    const double first = msSince(opened);
    EXPECT_EQ(frame->image->size(), mode.size);
    EXPECT_EQ(frame->image->format(), frameFormat(mode.encoding));
    EXPECT_EQ(source->info().size, mode.size);
    EXPECT_EQ(source->info().rate, mode.rates[0]);
    EXPECT_EQ(source->info().format, nameOf(mode.encoding));
    const auto begin = frame->captured;
    const std::uint64_t firstNumber = frame->number;
    int read = 0;
    double latency = 0;
    for (; read < 30; ++read) {
        const int level = levelOf(*frame->image);
        frame = source->read({});
        ASSERT_TRUE(frame);
        // Each is the next one, unless the machine was too slow for it.
        const int step = (levelOf(*frame->image) - level + 200) % 200;
        EXPECT_GE(step, 1);
        EXPECT_LE(step, 12) << "frames are old or from elsewhere";
        latency += msSince(frame->captured) / 30;
    }
    const std::uint64_t sent = frame->number - firstNumber;
    const std::chrono::duration<double> seconds = frame->captured - begin;
    const double rate = double(sent) / seconds.count();
    std::printf("first frame after %.0f ms, %.1f frames a second, %.1f ms old, %d of %d\n", first, rate, latency, read,
                int(sent));
    // Not held against us: a machine so busy that the camera itself is slow.
    EXPECT_GE(4 * read, int(sent));
    EXPECT_GT(rate, mode.rates[0] * 0.2) << "by the times of the pictures";
    EXPECT_LT(rate, mode.rates[0] * 1.5);
}

INSTANTIATE_TEST_SUITE_P(PipeWire,
                         Capture,
                         testing::Values(CameraMode{Encoding::yuyv, {640, 480}, {30}},
                                         CameraMode{Encoding::yuyv, {1280, 720}, {30}},
                                         CameraMode{Encoding::nv12, {1920, 1080}, {30}},
                                         CameraMode{Encoding::mjpg, {1920, 1080}, {30}},
                                         CameraMode{Encoding::i420, {640, 480}, {60}},
                                         CameraMode{Encoding::bgr, {640, 480}, {30}},
                                         CameraMode{Encoding::rgba, {640, 480}, {30}}),
                         [](const auto& test) {
                             return nameOf(test.param.encoding) + "_" + std::to_string(test.param.size.width);
                         });

/// Silence alone would have another sentence.
TEST(PipeWire, UnpluggingEndsTheReading) {
    std::optional<FakeCamera> camera;
    camera.emplace(FakeCameraOptions{});
    const auto source = open("FakeCam");
    ASSERT_TRUE(source->read({}));
    const auto begin = Clock::now();
    std::jthread unplugger([&] { camera.reset(); });
    const std::string sentence = lossOf(*source);
    std::printf("told after %.0f ms: %s\n", msSince(begin), sentence.c_str());
    EXPECT_NE(sentence.find("unplugged"), std::string::npos) << sentence;
    EXPECT_NE(lossOf(*source).find("unplugged"), std::string::npos) << "it stays lost";
}

TEST(PipeWire, AnotherCameraNeverTakesItsPlace) {
    FakeCamera other({.id = "other", .name = "Other"});
    std::optional<FakeCamera> camera;
    camera.emplace(FakeCameraOptions{});
    const auto source = open("FakeCam");
    ASSERT_TRUE(source->read({}));
    camera.reset();
    EXPECT_NE(lossOf(*source), "");
    FakeCamera third({.id = "third", .name = "Third"});
    const auto next = open("Third");  // by when the other one would send too
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(next->read({}));
    EXPECT_EQ(other.sent(), 0) << "the other camera was switched on";
}

TEST(PipeWire, ASilentCameraIsNoticed) {
    FakeCamera camera({});
    const auto source = open("FakeCam");
    ASSERT_TRUE(source->read({}));
    const auto begin = Clock::now();
    camera.setSilent(true);
    const std::string sentence = lossOf(*source);
    EXPECT_GE(msSince(begin), 2990);
    EXPECT_NE(sentence.find("no pictures"), std::string::npos) << sentence;
    camera.setSilent(false);
    EXPECT_TRUE(source->read({})) << "it may go on by itself";
}

TEST(PipeWire, DamagedPicturesAreLeftOut) {
    for (const Encoding encoding : {Encoding::mjpg, Encoding::yuyv}) {
        FakeCamera camera({.modes = {{encoding, {320, 240}, {60}}}});
        const auto source = open("FakeCam");
        ASSERT_TRUE(source->read({}));
        camera.setDamaged(true);
        const int before = camera.sent();
        ASSERT_TRUE(eventually([&] { return camera.sent() >= before + 9; }));
        camera.setDamaged(false);
        for (int i = 0; i < 10; ++i) {
            const auto frame = source->read({});
            ASSERT_TRUE(frame);
            EXPECT_EQ(frame->image->size(), (Size{320, 240}));
        }
    }
}

/// They never stop coming: reading must not wait for a good one for ever.
TEST(PipeWire, PicturesThatAreAllDamagedAreALoss) {
    for (const Encoding encoding : {Encoding::mjpg, Encoding::yuyv}) {
        FakeCamera camera({.modes = {{encoding, {320, 240}, {60}}}});
        const auto source = open("FakeCam");
        ASSERT_TRUE(source->read({}));
        camera.setDamaged(true);
        const std::string sentence = lossOf(*source);
        EXPECT_NE(sentence.find("come damaged"), std::string::npos) << sentence;
    }
    FakeCamera camera({.strideError = -1});
    const auto source = open("FakeCam");
    const std::string sentence = lossOf(*source);
    EXPECT_NE(sentence.find("come damaged"), std::string::npos) << sentence;
}

/// BGRA has two names of which BGRx is the first: a camera that has the second alone is asked for it.
TEST(PipeWire, AsksForTheFormatThatTheCameraOffers) {
    FakeCamera camera({.modes = {{Encoding::bgra, {320, 240}, {30}}}, .onlyFormat = SPA_VIDEO_FORMAT_BGRA});
    const auto source = open("FakeCam");
    const auto frame = source->read({});
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->image->format(), PixelFormat::rgba8);
    EXPECT_EQ(source->info().format, "BGRA");
}

TEST(PipeWire, ACameraThatSendsH264AloneIsDecoded) {
    if (test::h264Clip({64, 48}, 2).empty()) GTEST_SKIP() << "OpenCV can't encode H264 here";
    FakeCamera camera({.modes = {{Encoding::h264, {640, 360}, {30}}}});
    const auto opened = Clock::now();
    const auto source = open("FakeCam");
    for (int i = 0; i < 30; ++i) {
        const auto frame = source->read({});
        ASSERT_TRUE(frame);
        EXPECT_EQ(frame->image->size(), (Size{640, 360}));
        EXPECT_EQ(frame->image->format(), PixelFormat::bgr8);
        if (i == 0 || i == 29) {
            std::printf("frame %d after %.0f ms, %.0f ms old\n", i, msSince(opened), msSince(frame->captured));
        }
    }
    EXPECT_EQ(source->info().format, "H264");
}

/// Copying keeps PipeWire's thread busy all the while here: closing must get its turn.
TEST(PipeWire, ACameraFasterThanItsPicturesCanBeCopiedIsClosed) {
    FakeCamera camera({.modes = {{Encoding::bgra, {1920, 1080}, {1000}}}, .still = true});
    auto source = open("FakeCam");
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(source->read({}));
    const auto begin = Clock::now();
    source.reset();
    std::printf("closed after %.0f ms\n", msSince(begin));
    EXPECT_TRUE(open("FakeCam")->read({})) << "it is free for the next";
}

TEST(PipeWire, StoppingIsSeenWhileACameraIsLookedFor) {
    FakeCamera camera({.modes = {}});  // it has nothing to offer, which is waited for
    std::stop_source stop;
    const std::jthread asker([&] {
        std::this_thread::sleep_for(100ms);  // paces: a user who has had enough; nothing tells that it is looked for
        stop.request_stop();
    });
    EXPECT_THROW((void)openPipeWireCamera("FakeCam", {}, stop.get_token()), Cancelled);
}

TEST(PipeWire, ABusyCameraGetsASentence) {
    FakeCamera camera({.refusal = "error alloc buffers: Device or resource busy"});
    const auto begin = Clock::now();
    const std::string sentence = refusal("FakeCam");
    const double told = msSince(begin);
    std::printf("after %.0f ms: %s\n", told, sentence.c_str());
    EXPECT_LT(told, 8000);
    EXPECT_NE(sentence.find("FakeCam"), std::string::npos) << sentence;
    EXPECT_NE(sentence.find("another program"), std::string::npos) << sentence;
}

TEST(PipeWire, ACameraInUseIsSharedAsTheOtherProgramSetIt) {
    FakeCamera camera({.modes = {{Encoding::yuyv, {640, 480}, {30}}, {Encoding::yuyv, {320, 240}, {30}}}});
    CaptureSettings small;
    small.size = {320, 240};
    const auto first = open("FakeCam", small);
    ASSERT_TRUE(first->read({}));
    const auto second = open("FakeCam");
    const auto frame = second->read({});
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->image->size(), second->info().size);
    ASSERT_TRUE(first->read({}));
}

TEST(PipeWire, ReadingEndsWhenItIsAskedTo) {
    FakeCamera camera({});
    const auto source = open("FakeCam");
    std::stop_source stop;
    const std::jthread asker([&] {
        EXPECT_TRUE(eventually([&] { return camera.sent() >= 6; }));
        stop.request_stop();
    });
    while (source->read(stop.get_token())) continue;
    EXPECT_TRUE(stop.stop_requested());
}

TEST(PipeWire, NothingGrowsOverManyOpenings) {
    FakeCamera camera({});
    for (int i = 0; i < 20; ++i) {
        const auto source = open("FakeCam");
        ASSERT_TRUE(source->read({})) << i;
    }
    const auto count = [](const char* folder) {
        return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
    };
    const auto files = count("/proc/self/fd"), threads = count("/proc/self/task");
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(open("FakeCam")->read({}));
    // PipeWire takes its time to let go; a leak would be twenty.
    EXPECT_TRUE(eventually([&] { return count("/proc/self/fd") <= files + 5; })) << count("/proc/self/fd") - files;
    EXPECT_TRUE(eventually([&] { return count("/proc/self/task") <= threads + 2; }))
        << count("/proc/self/task") - threads;
}

TEST(PipeWire, AMissingCameraGetsASentence) {
    FakeCamera camera({});
    EXPECT_NE(refusal("Other").find("The camera Other is not there"), std::string::npos);
}

}  // namespace
}  // namespace matte
