// SPDX-License-Identifier: Apache-2.0
// The virtual camera of v4l2loopback, on answers as the module gives them: what it takes is what is shown, and no
// more than somebody reads.
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>

#include <gtest/gtest.h>
#include <linux/videodev2.h>

#include "inference/core/error.h"
#include "inference/media/capture/v4l2/v4l2_device.h"
#include "inference/media/virtual_camera/virtual_camera.h"
#include "tests/support/running/eventually.h"

namespace matte {
namespace {

namespace fs = std::filesystem;
using test::eventually;

struct FakeLoopback {
    std::string driver = "v4l2 loopback", card = "Dummy video device (0x0000)";
    std::uint32_t abilities = V4L2_CAP_VIDEO_OUTPUT | V4L2_CAP_READWRITE;
    bool isBusy = false;
    Size fixedSize{};          ///< that its owner chose; 0x0: any
    bool tellsReaders = true;  ///< as the module does from 0.13 on
};

/// The first device that is written to is the one that is looked at.
class FakeModule : public V4l2Calls {
public:
    std::map<fs::path, FakeLoopback> all;
    std::atomic<int> writeFault = 0;

    void setReaders(std::uint32_t count) {
        const std::scoped_lock lock(mutex_);
        readers_ = count;
        hasNews_ = true;
    }
    [[nodiscard]] int written() const { return written_; }
    /// So often the camera asked who reads, which it does before it writes.
    [[nodiscard]] int rounds() const { return rounds_; }
    [[nodiscard]] std::vector<std::uint8_t> lastFrame() {
        const std::scoped_lock lock(mutex_);
        return frame_;
    }
    v4l2_pix_format agreed{};
    fs::path writer;

    std::vector<fs::path> devices() override {
        std::vector<fs::path> paths;
        for (const auto& [path, device] : all) paths.push_back(path);
        return paths;
    }
    int open(const fs::path& path) override {
        files_.push_back(path);
        return int(files_.size()) - 1;
    }
    void close(int) override {}
    void* map(int, std::size_t, std::size_t) override { return nullptr; }
    void unmap(void*, std::size_t) override {}
    int wait(int, int) override { return 0; }
    long write(int file, std::span<const std::uint8_t> bytes) override {
        if (writeFault != 0) return writeFault;
        const std::scoped_lock lock(mutex_);
        writer = files_.at(std::size_t(file));
        frame_.assign(bytes.begin(), bytes.end());
        ++written_;
        return long(bytes.size());
    }
    int control(int file, unsigned long request, void* argument) override {
        const FakeLoopback& device = all.at(files_.at(std::size_t(file)));
        switch (request) {
            case VIDIOC_QUERYCAP: {
                auto& about = *static_cast<v4l2_capability*>(argument);
                device.driver.copy(reinterpret_cast<char*>(about.driver), sizeof about.driver);
                device.card.copy(reinterpret_cast<char*>(about.card), sizeof about.card);
                about.capabilities = device.abilities | V4L2_CAP_DEVICE_CAPS;
                about.device_caps = device.abilities;
                return 0;
            }
            case VIDIOC_S_FMT: {
                auto& format = *static_cast<v4l2_format*>(argument);
                if (device.isBusy) return -EBUSY;
                if (format.type != V4L2_BUF_TYPE_VIDEO_OUTPUT) return -EINVAL;
                if (device.fixedSize.width > 0) {
                    format.fmt.pix.width = std::uint32_t(device.fixedSize.width);
                    format.fmt.pix.height = std::uint32_t(device.fixedSize.height);
                }
                agreed = format.fmt.pix;
                return 0;
            }
            case VIDIOC_S_PARM: return 0;
            case VIDIOC_SUBSCRIBE_EVENT: return device.tellsReaders ? 0 : -EINVAL;
            case VIDIOC_DQEVENT: {
                const std::scoped_lock lock(mutex_);
                ++rounds_;
                if (!hasNews_) return -ENOENT;
                hasNews_ = false;
                auto& event = *static_cast<v4l2_event*>(argument);
                event.type = V4L2_EVENT_PRIVATE_START + 0x08E00001;
                std::memcpy(event.u.data, &readers_, sizeof readers_);
                return 0;
            }
            default: return -ENOTTY;
        }
    }

private:
    std::mutex mutex_;
    std::vector<fs::path> files_;
    std::vector<std::uint8_t> frame_;
    std::atomic<int> written_ = 0, rounds_ = 0;
    std::uint32_t readers_ = 0;
    bool hasNews_ = false;
};

Image plain(std::uint8_t level) {
    Image image({320, 180}, PixelFormat::rgba8);
    std::memset(image.row(0), level, image.bytes());
    for (std::size_t i = 3; i < image.bytes(); i += 4) image.row(0)[i] = 255;
    return image;
}
constexpr int kBlack = 16, kWhite = 235;  // of luma
int lumaIn(const std::vector<std::uint8_t>& yuyv) {
    return yuyv.at(yuyv.size() / 2 + 640);
}

TEST(LoopbackCamera, ShowsWhatIsShownToWhoeverReads) {
    FakeModule module;
    module.all["/dev/video4"] = {};
    const auto camera = openLoopbackCamera(module);
    ASSERT_TRUE(camera);
    EXPECT_EQ(camera->names(), std::vector<std::string>{"Dummy video device (0x0000)"});
    EXPECT_EQ(module.agreed.pixelformat, V4L2_PIX_FMT_YUYV);
    EXPECT_EQ(module.lastFrame().size(), 1280U * 720 * 2);
    EXPECT_EQ(lumaIn(module.lastFrame()), kBlack) << "black before anything is shown";
    EXPECT_FALSE(camera->isWatched());

    camera->show(plain(255).view());
    const int rounds = module.rounds();
    ASSERT_TRUE(eventually([&] { return module.rounds() >= rounds + 3; }));
    EXPECT_EQ(module.written(), 1) << "nobody reads";

    module.setReaders(1);
    ASSERT_TRUE(eventually([&] { return camera->isWatched(); }));
    camera->show(plain(255).view());
    EXPECT_TRUE(eventually([&] { return lumaIn(module.lastFrame()) >= kWhite - 1; }));
    camera->showNothing();
    EXPECT_TRUE(eventually([&] { return lumaIn(module.lastFrame()) == kBlack; }));
}

TEST(LoopbackCamera, WritesWhatStandsStillAgain) {
    FakeModule module;
    module.all["/dev/video4"] = {};
    const auto camera = openLoopbackCamera(module);
    module.setReaders(1);
    EXPECT_TRUE(eventually([&] { return module.written() > 20; }));
}

TEST(LoopbackCamera, ShowsNothingOldToTheNextReader) {
    FakeModule module;
    module.all["/dev/video4"] = {};
    const auto camera = openLoopbackCamera(module);
    module.setReaders(1);
    ASSERT_TRUE(eventually([&] { return camera->isWatched(); }));
    camera->show(plain(255).view());
    ASSERT_TRUE(eventually([&] { return lumaIn(module.lastFrame()) >= kWhite - 1; }));
    module.setReaders(0);
    ASSERT_TRUE(eventually([&] { return !camera->isWatched(); }));
    const int before = module.written();
    module.setReaders(1);
    ASSERT_TRUE(eventually([&] { return module.written() > before; }));
    EXPECT_EQ(lumaIn(module.lastFrame()), kBlack);
}

// The module before 0.13 doesn't say who reads.
TEST(LoopbackCamera, IsAlwaysWatchedWhereReadersAreNotTold) {
    FakeModule module;
    module.all["/dev/video4"] = {.tellsReaders = false};
    const auto camera = openLoopbackCamera(module);
    EXPECT_TRUE(camera->isWatched());
    camera->show(plain(255).view());
    EXPECT_TRUE(eventually([&] { return lumaIn(module.lastFrame()) >= kWhite - 1; }));
}

TEST(LoopbackCamera, PrefersTheDeviceThatIsNamedForIt) {
    FakeModule module;
    module.all["/dev/video0"] = {.driver = "uvcvideo", .card = "Matte", .abilities = V4L2_CAP_VIDEO_CAPTURE};
    module.all["/dev/video4"] = {};
    module.all["/dev/video5"] = {.card = "Matte", .fixedSize = {640, 360}};
    const auto camera = openLoopbackCamera(module);
    ASSERT_TRUE(camera);
    EXPECT_EQ(module.writer, "/dev/video5");
    EXPECT_EQ(module.lastFrame().size(), 640U * 360 * 2) << "its owner fixed its size";
}

TEST(LoopbackCamera, LeavesADeviceAloneThatAnotherProgramWritesTo) {
    FakeModule module;
    module.all["/dev/video4"] = {.card = "OBS Virtual Camera", .isBusy = true};
    try {
        (void)openLoopbackCamera(module);
        ADD_FAILURE() << "it opened";
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(),
                     "Another program writes to v4l2loopback's “OBS Virtual Camera” already: close it, or load "
                     "v4l2loopback with more devices.");
    }
    module.all["/dev/video5"] = {};
    EXPECT_TRUE(openLoopbackCamera(module));
    EXPECT_EQ(module.writer, "/dev/video5");
}

TEST(LoopbackCamera, IsNotThereWithoutTheModule) {
    FakeModule module;
    module.all["/dev/video0"] = {.driver = "uvcvideo", .abilities = V4L2_CAP_VIDEO_CAPTURE};
    EXPECT_FALSE(openLoopbackCamera(module));
}

TEST(LoopbackCamera, SaysWhenItIsGone) {
    FakeModule module;
    module.all["/dev/video4"] = {.card = "Matte", .tellsReaders = false};
    const auto camera = openLoopbackCamera(module);
    EXPECT_EQ(camera->problem(), "");
    module.writeFault = -ENODEV;
    EXPECT_TRUE(eventually([&] { return !camera->problem().empty() && !camera->isWatched(); }));
}

TEST(LoopbackCamera, IsNoneOfTheCamerasThatMatteListsItself) {
    FakeModule module;
    module.all["/dev/video4"] = {.card = "Matte"};
    {
        const auto camera = openLoopbackCamera(module);
        EXPECT_TRUE(isOwnLoopbackCamera("Matte"));
        EXPECT_TRUE(isOwnLoopbackCamera("Matte (V4L2)"));
        EXPECT_FALSE(isOwnLoopbackCamera("Matterhorn"));
    }
    EXPECT_FALSE(isOwnLoopbackCamera("Matte"));
}

}  // namespace
}  // namespace matte
