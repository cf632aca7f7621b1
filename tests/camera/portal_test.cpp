// SPDX-License-Identifier: Apache-2.0
// Inside a sandbox: the camera portal, here a small one of our own, is asked, and its connection is used, because there
// is no other. Run by with_pipewire.sh, which starts a message bus too.
#ifdef MATTE_HAVE_PORTAL
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "inference/core/error.h"
#include "inference/media/capture/camera_list.h"
#include "inference/media/capture/pipewire/pipewire_connection.h"
#include "inference/media/resuming_source.h"
#include "tests/camera/fake_camera.h"
#include "tests/support/files/scratch_folder.h"
#include "tests/support/running/eventually.h"
#include "tests/support/running/program.h"

namespace matte {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using test::FakeCamera;
using test::Program;

/// A camera is plugged in outside; inside, PipeWire can't be reached but through the portal.
class Portal : public testing::Test {
protected:
    void SetUp() override {
        if (std::system("/usr/bin/python3 -c 'import dbus.service, gi' 2>/dev/null") != 0) {
            GTEST_SKIP() << "python3-dbus or python3-gi is not installed";
        }
        camera_ = std::make_unique<FakeCamera>(test::FakeCameraOptions{});
        const char* folder = std::getenv("PIPEWIRE_RUNTIME_DIR");
        ASSERT_NE(folder, nullptr) << "run it with with_pipewire.sh";
        socket_ = std::string(folder) + "/pipewire-0";
        ::setenv("PIPEWIRE_REMOTE", "none", 1);
        ::setenv("SNAP", "/snap/matte", 1);
    }
    void TearDown() override {
        ::unsetenv("PIPEWIRE_REMOTE");
        ::unsetenv("SNAP");
        if (!portal_) return;
        portal_->send(SIGTERM);
        portal_->wait();
    }
    void startPortal(const std::string& answer) {
        const auto ready = folder_ / "ready";
        asked_ = ready.string() + ".asked";
        portal_ = std::make_unique<Program>(
            std::vector<std::string>{"/usr/bin/python3", MATTE_MOCK_PORTAL, answer, socket_, ready.string()});
        ASSERT_TRUE(eventually([&] { return std::filesystem::exists(ready); }));
    }
    /// Whether the user looks at the question.
    [[nodiscard]] bool isAsked() const {
        return eventually([this] { return std::filesystem::exists(asked_); });
    }
    static std::string refusal() {
        try {
            (void)openCamera("", {}, {});
        } catch (const Error& error) {
            EXPECT_EQ(error.category, ErrorCategory::source);
            return error.what();
        }
        return "";
    }

private:
    const test::ScratchFolder folder_;
    std::string socket_, asked_;
    std::unique_ptr<FakeCamera> camera_;
    std::unique_ptr<Program> portal_;
};

TEST_F(Portal, AnAllowedCameraIsReadAndListed) {
    startPortal("allow");
    CameraList list;
    EXPECT_TRUE(isSandboxed());
    EXPECT_EQ(openCameraRemote(), -1) << "nobody was asked yet";
    // As the window does it: a machine so busy that the portal is late gets another attempt.
    std::string told;
    ResumingSource source([](const std::stop_token& stop) { return openCamera("FakeCam", {}, stop); },
                          [&](const std::string& sentence) { told = sentence; });
    std::stop_source late;
    const std::jthread clock([&](const std::stop_token& done) {
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable_any().wait_for(lock, done, 30s, [] { return false; });
        late.request_stop();
    });
    for (int i = 0; i < 5; ++i) {
        const auto frame = source.read(late.get_token());
        ASSERT_TRUE(frame) << told;
        EXPECT_EQ(frame->image->size(), (Size{640, 480}));
    }
    EXPECT_TRUE(eventually([&] { return list.cameras().size() == 1; })) << "known once it was allowed";
}

TEST_F(Portal, ARefusalSaysWhatToDo) {
    startPortal("refuse");
    EXPECT_EQ(refusal(), "Matte may not use the camera: allow it in the system's privacy settings, and start again.");
    EXPECT_EQ(openCameraRemote(), -1);
}

TEST_F(Portal, ADesktopWithoutOneSaysWhatToDo) {
    if (std::filesystem::exists("/usr/share/dbus-1/services/org.freedesktop.portal.Desktop.service")) {
        GTEST_SKIP() << "a portal is installed, which the message bus would start";
    }
    const std::string sentence = refusal();
    EXPECT_NE(sentence.find("no camera portal"), std::string::npos) << sentence;
}

TEST_F(Portal, StoppingIsSeenWhileTheUserIsAsked) {
    startPortal("nothing");
    std::stop_source stop;
    const std::jthread asker([&] {
        EXPECT_TRUE(isAsked());
        stop.request_stop();
    });
    EXPECT_THROW((void)openCamera("", {}, stop.get_token()), Cancelled);
}

}  // namespace
}  // namespace matte
#endif
