// SPDX-License-Identifier: Apache-2.0
// A session beside a real PipeWire: the camera goes and comes back, changes its size, is another program's, and the
// whole daemon ends and begins again. Run by with_pipewire.sh.
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "inference/core/error.h"
#include "inference/media/capture/camera_list.h"
#include "inference/media/resuming_source.h"
#include "inference/media/virtual_camera/virtual_camera.h"
#include "tests/camera/fake_camera.h"
#include "tests/support/running/eventually.h"
#include "tests/support/running/program.h"

namespace matte {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using test::FakeCamera;
using test::FakeCameraOptions;
using Clock = std::chrono::steady_clock;

/// As the live window does it: a thread that reads, a list that says when to try again, and what people are told.
class Session {
public:
    explicit Session(const std::string& source)
        : source_([source](const std::stop_token& stop) { return openSource(parseSource(source), {}, stop); },
                  [this](const std::string& sentence) {
                      const std::lock_guard lock(mutex_);
                      told_.push_back(sentence);
                      toldAt_ = Clock::now();
                  }),
          list_([this] { source_.retryNow(); }),
          thread_([this](const std::stop_token& stop) { run(stop); }) {}

    [[nodiscard]] std::uint64_t frames() const { return frames_; }
    [[nodiscard]] Size size() const {
        const std::lock_guard lock(mutex_);
        return size_;
    }
    [[nodiscard]] std::string told() const {
        const std::lock_guard lock(mutex_);
        return told_.empty() ? "" : told_.back();
    }
    [[nodiscard]] Clock::time_point toldAt() const {
        const std::lock_guard lock(mutex_);
        return toldAt_;
    }
    [[nodiscard]] std::vector<CameraInfo> cameras() const { return list_.cameras(); }
    bool runs() {
        const auto before = frames();
        return eventually([&] { return frames() > before + 3; });
    }

private:
    void run(const std::stop_token& stop) {
        while (auto frame = source_.read(stop)) {
            const std::lock_guard lock(mutex_);
            size_ = frame->image->size();
            EXPECT_TRUE(frames_ == 0 || frame->number > lastNumber_);
            lastNumber_ = frame->number;
            ++frames_;
        }
    }

    mutable std::mutex mutex_;
    Size size_;
    std::vector<std::string> told_;
    Clock::time_point toldAt_;
    std::uint64_t lastNumber_ = 0;
    std::atomic<std::uint64_t> frames_{0};
    ResumingSource source_;
    CameraList list_;
    std::jthread thread_;
};

double msBetween(Clock::time_point a, Clock::time_point b) {
    return std::chrono::duration<double, std::milli>(b - a).count();
}

TEST(Resume, AReturnResumesWithoutAClick) {
    std::optional<FakeCamera> camera;
    camera.emplace(FakeCameraOptions{});
    Session session("camera:FakeCam");
    ASSERT_TRUE(session.runs());
    for (int i = 0; i < 3; ++i) {
        const auto unplugged = Clock::now();
        camera.reset();
        ASSERT_TRUE(eventually([&] {
            return session.told().find("unplugged") != std::string::npos ||
                   session.told().find("not there") != std::string::npos ||
                   session.told().find("no camera") != std::string::npos;
        })) << session.told();
        const double told = msBetween(unplugged, session.toldAt());
        ASSERT_TRUE(eventually([&] { return session.cameras().empty(); }));
        const auto before = session.frames();
        const auto plugged = Clock::now();
        camera.emplace(FakeCameraOptions{});
        ASSERT_TRUE(eventually([&] { return session.frames() > before; }, 2s)) << "people are promised that";
        const double resumed = msBetween(plugged, Clock::now());
        std::printf("told after %.0f ms, resumed %.0f ms after the return\n", told, resumed);
        ASSERT_TRUE(eventually([&] { return session.told().empty(); }));
    }
}

TEST(Resume, TheReturnMayHaveAnotherSize) {
    std::optional<FakeCamera> camera;
    for (const Size size : {Size{640, 480}, Size{1280, 720}, Size{1920, 1080}}) {
        camera.emplace(FakeCameraOptions{.modes = {{Encoding::nv12, size, {30}}}});
        Session session("camera:FakeCam");
        ASSERT_TRUE(session.runs());
        EXPECT_EQ(session.size(), size);
        camera.reset();
        const Size other{size.width / 2, size.height / 2};
        camera.emplace(FakeCameraOptions{.modes = {{Encoding::yuyv, other, {30}}}});
        EXPECT_TRUE(eventually([&] { return session.size() == other; }));
        camera.reset();
    }
}

TEST(Resume, ASilentCameraIsStartedAnew) {
    FakeCamera camera({});
    Session session("camera");
    ASSERT_TRUE(session.runs());
    camera.setSilent(true);
    ASSERT_TRUE(eventually([&] { return session.told().find("no pictures") != std::string::npos; })) << session.told();
    camera.setSilent(false);
    EXPECT_TRUE(session.runs());
    EXPECT_TRUE(eventually([&] { return session.told().empty(); })) << session.told();
}

TEST(Resume, ACameraWhosePicturesAreAllDamagedIsStartedAnew) {
    FakeCamera camera({.modes = {{Encoding::mjpg, {640, 480}, {30}}}});
    Session session("camera");
    ASSERT_TRUE(session.runs());
    camera.setDamaged(true);
    ASSERT_TRUE(eventually([&] { return session.told().find("come damaged") != std::string::npos; })) << session.told();
    camera.setDamaged(false);
    EXPECT_TRUE(session.runs());
    EXPECT_TRUE(eventually([&] { return session.told().empty(); })) << session.told();
}

TEST(Resume, WaitsForACameraThatIsNotThereYet) {
    Session session("camera");
    ASSERT_TRUE(eventually([&] { return session.told().find("no camera") != std::string::npos; })) << session.told();
    FakeCamera camera({});
    EXPECT_TRUE(session.runs());
}

TEST(CameraList, SaysWhoListsAndKeepsUp) {
    CameraList list;
    list.waitUntilKnown(5s);
    EXPECT_TRUE(list.cameras().empty());
    FakeCamera camera({});
    ASSERT_TRUE(eventually([&] { return list.cameras().size() == 1; }));
    EXPECT_EQ(list.system(), "PipeWire");
}

bool has(const std::string& program) {
    return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

/// GStreamer's camera, written by others than our own. With PipeWire 0.3 its sink now and then hands out buffers
/// without memory to whoever listens while it starts, and from then on sends to nobody, GStreamer's own source
/// included: such a one is replaced.
struct GStreamerCamera {
    explicit GStreamerCamera(Size size)
        : program({"/bin/sh", "-c",
                   "exec gst-launch-1.0 -q videotestsrc is-live=true pattern=ball ! video/x-raw,format=YUY2,"
                   "framerate=30/1,width=" +
                       std::to_string(size.width) + ",height=" + std::to_string(size.height) +
                       " ! pipewiresink mode=provide stream-properties=p,media.class=Video/Source,"
                       "node.name=gstcam,node.description=GstCam"}) {}
    void kill() {
        program.send(SIGKILL);
        program.wait();
    }
    test::Program program;
};

TEST(CameraList, AnotherProgramsCameraWorksAsWell) {
    if (!has("gst-launch-1.0") || std::system("gst-inspect-1.0 pipewiresink >/dev/null 2>&1") != 0) {
        GTEST_SKIP() << "GStreamer's tools or its PipeWire plugin are not installed";
    }
    for (const Size size : {Size{640, 480}, Size{1280, 720}, Size{1920, 1080}}) {
        std::optional<GStreamerCamera> camera;
        std::optional<Session> session;
        const auto starts = [&] {
            session.reset();
            if (camera) camera->kill();
            camera.emplace(size);
            session.emplace("camera:GstCam");
            return session->runs();
        };
        ASSERT_TRUE(starts() || starts() || starts()) << session->told();
        EXPECT_EQ(session->size(), size);
        const auto killed = Clock::now();
        camera->kill();
        EXPECT_TRUE(eventually([&] { return !session->told().empty(); }));
        std::printf("told after %.0f ms\n", msBetween(killed, session->toldAt()));
        EXPECT_EQ(session->told().find("no pictures"), std::string::npos) << "its silence alone was noticed";
    }
}

/// PipeWire as with_pipewire.sh starts it.
TEST(Daemon, ItsEndIsToldAndItsReturnResumes) {
    const char* pid = std::getenv("MATTE_TEST_PIPEWIRE_PID");
    ASSERT_NE(pid, nullptr) << "run it with with_pipewire.sh";
    CameraList list;
    std::optional<FakeCamera> camera;
    camera.emplace(FakeCameraOptions{});
    Session session("camera:FakeCam");
    ASSERT_TRUE(session.runs());
    const auto own = openPipeWireVirtualCamera();
    const auto killed = Clock::now();
    ASSERT_EQ(::kill(pid_t(std::atoi(pid)), SIGKILL), 0);
    ASSERT_TRUE(eventually([&] { return !session.told().empty(); }));
    std::printf("told %.0f ms after the end: %s\n", msBetween(killed, session.toldAt()), session.told().c_str());
    EXPECT_EQ(session.told().find("no pictures"), std::string::npos) << "its silence alone was noticed";
    EXPECT_TRUE(eventually([&] { return list.cameras().empty(); }));
    EXPECT_TRUE(eventually([&] { return !own->problem().empty(); })) << "Matte's own camera";
    camera.reset();
    test::Program pipewire({"/bin/sh", "-c", "exec pipewire"}), sessions({"/bin/sh", "-c", "exec wireplumber"});
    EXPECT_TRUE(eventually([&] {
        try {
            camera.emplace(FakeCameraOptions{});
            return true;
        } catch (const std::runtime_error&) {
            return false;  // not there yet
        }
    }));
    EXPECT_TRUE(eventually([&] { return list.cameras().size() == 1; }, 15s));
    EXPECT_TRUE(eventually([&] { return session.told().empty(); }, 20s)) << session.told();
    sessions.send(SIGTERM);
    pipewire.send(SIGTERM);
    sessions.wait();
    pipewire.wait();
}

}  // namespace
}  // namespace matte
