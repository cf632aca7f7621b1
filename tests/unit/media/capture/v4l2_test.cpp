// SPDX-License-Identifier: Apache-2.0
// V4L2 on answers like those of real cameras: a laptop's two nodes, a capture card with ranges, a driver that lies.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/videodev2.h>
#include <unistd.h>

#include "inference/core/error.h"
#include "inference/media/capture/v4l2/v4l2_device.h"
#include "tests/support/files/picture_file.h"

namespace matte {
namespace {

namespace fs = std::filesystem;

struct Answer {
    std::uint32_t fourcc;
    Size size;
    std::vector<v4l2_fract> intervals;
};

/// A device as the kernel shows it. Without modes it is the metadata node that UVC cameras have beside them.
struct FakeDevice {
    std::string card = "Integrated Camera", bus = "usb-0000:00:14.0-6";
    std::uint32_t abilities = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
    std::vector<Answer> modes;
    std::function<int(unsigned long, void*)> first = {};  ///< answers before the rest, -ENOTTY to pass
    int openFault = 0;

    std::vector<std::uint32_t> formats() const {
        std::vector<std::uint32_t> all;
        for (const auto& mode : modes) {
            if (std::find(all.begin(), all.end(), mode.fourcc) == all.end()) all.push_back(mode.fourcc);
        }
        return all;
    }
};

class FakeCalls : public V4l2Calls {
public:
    std::map<fs::path, FakeDevice> all;
    int opened = 0, mapped = 0, streaming = 0;
    int sent = 0;  // the capturing thread alone
    std::atomic<bool> silent{false};
    std::atomic<int> waitFault{0};

    std::vector<fs::path> devices() override {
        std::vector<fs::path> paths;
        for (const auto& [path, device] : all) paths.push_back(path);
        return paths;
    }
    int open(const fs::path& path) override {
        if (!all.contains(path)) return -ENOENT;
        if (all[path].openFault != 0) return all[path].openFault;
        ++opened;
        files_[nextFile_] = path;
        return nextFile_++;
    }
    void close(int file) override {
        --opened;
        files_.erase(file);
    }
    long write(int, std::span<const std::uint8_t>) override { return -EINVAL; }
    void* map(int, std::size_t length, std::size_t offset) override {
        ++mapped;
        EXPECT_EQ(length, kBufferBytes);
        return memory_[offset].data();
    }
    void unmap(void*, std::size_t) override { --mapped; }
    int wait(int, int milliseconds) override {
        if (waitFault != 0) return waitFault;
        // As a driver's poll() does: for a picture, or as long as it may.
        std::this_thread::sleep_for(std::chrono::milliseconds(silent ? milliseconds : 5));  // paces
        return silent ? 0 : 1;
    }
    int control(int file, unsigned long request, void* argument) override {
        FakeDevice& device = all[files_.at(file)];
        if (device.first) {
            if (const int answer = device.first(request, argument); answer != -ENOTTY) return answer;
        }
        switch (request) {
            case VIDIOC_QUERYCAP: return about(device, *static_cast<v4l2_capability*>(argument));
            case VIDIOC_ENUM_FMT: return format(device, *static_cast<v4l2_fmtdesc*>(argument));
            case VIDIOC_ENUM_FRAMESIZES: return size(device, *static_cast<v4l2_frmsizeenum*>(argument));
            case VIDIOC_ENUM_FRAMEINTERVALS: return interval(device, *static_cast<v4l2_frmivalenum*>(argument));
            case VIDIOC_S_FMT: return setFormat(device, static_cast<v4l2_format*>(argument)->fmt.pix);
            case VIDIOC_S_PARM:
            case VIDIOC_REQBUFS:
            case VIDIOC_QBUF: return 0;
            case VIDIOC_QUERYBUF:
                static_cast<v4l2_buffer*>(argument)->length = kBufferBytes;
                static_cast<v4l2_buffer*>(argument)->m.offset = static_cast<v4l2_buffer*>(argument)->index;
                return 0;
            case VIDIOC_STREAMON: return ++streaming, 0;
            case VIDIOC_STREAMOFF: return streaming = 0;
            case VIDIOC_DQBUF: return picture(*static_cast<v4l2_buffer*>(argument));
            default: return -ENOTTY;
        }
    }

    static constexpr std::size_t kBufferBytes = 640 * 480 * 2;
    v4l2_pix_format agreed{};
    int bytesPerPixel = 2;
    std::vector<std::uint8_t> jpeg;       ///< sent instead of pixels
    std::atomic<std::size_t> missing{0};  ///< so many bytes less than a picture arrive

private:
    static int about(const FakeDevice& device, v4l2_capability& answer) {
        device.card.copy(reinterpret_cast<char*>(answer.card), sizeof answer.card);
        device.bus.copy(reinterpret_cast<char*>(answer.bus_info), sizeof answer.bus_info);
        answer.capabilities = V4L2_CAP_DEVICE_CAPS | V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
        answer.device_caps = device.abilities;
        return 0;
    }
    static int format(const FakeDevice& device, v4l2_fmtdesc& answer) {
        const auto formats = device.formats();
        if (answer.index >= formats.size()) return -EINVAL;
        answer.pixelformat = formats[answer.index];
        return 0;
    }
    static int size(const FakeDevice& device, v4l2_frmsizeenum& answer) {
        std::uint32_t index = 0;
        for (const auto& mode : device.modes) {
            if (mode.fourcc != answer.pixel_format || index++ != answer.index) continue;
            answer.type = V4L2_FRMSIZE_TYPE_DISCRETE;
            answer.discrete = {std::uint32_t(mode.size.width), std::uint32_t(mode.size.height)};
            return 0;
        }
        return -EINVAL;
    }
    static int interval(const FakeDevice& device, v4l2_frmivalenum& answer) {
        for (const auto& mode : device.modes) {
            if (mode.fourcc != answer.pixel_format || mode.size.width != int(answer.width)) continue;
            if (answer.index >= mode.intervals.size()) return -EINVAL;
            answer.type = V4L2_FRMIVAL_TYPE_DISCRETE;
            answer.discrete = mode.intervals[answer.index];
            return 0;
        }
        return -EINVAL;
    }
    /// As drivers do it: who asks for a format that isn't there gets the first one.
    int setFormat(const FakeDevice& device, v4l2_pix_format& format) {
        const auto formats = device.formats();
        if (std::find(formats.begin(), formats.end(), format.pixelformat) == formats.end()) {
            format.pixelformat = formats.at(0);
        }
        format.bytesperline = jpeg.empty() ? format.width * std::uint32_t(bytesPerPixel) : 0;
        agreed = format;
        return 0;
    }
    int picture(v4l2_buffer& answer) {
        answer.index = std::uint32_t(sent % 4);
        answer.bytesused = std::uint32_t(jpeg.empty() ? agreed.bytesperline * agreed.height - missing : jpeg.size());
        memory_[answer.index].assign(kBufferBytes, std::uint8_t(++sent));
        std::copy(jpeg.begin(), jpeg.end(), memory_[answer.index].begin());
        return 0;
    }

    std::map<int, fs::path> files_;
    std::map<std::size_t, std::vector<std::uint8_t>> memory_{{0, std::vector<std::uint8_t>(kBufferBytes)},
                                                             {1, std::vector<std::uint8_t>(kBufferBytes)},
                                                             {2, std::vector<std::uint8_t>(kBufferBytes)},
                                                             {3, std::vector<std::uint8_t>(kBufferBytes)}};
    int nextFile_ = 10;
};

FakeDevice laptop() {
    return {.modes = {{V4L2_PIX_FMT_MJPEG, {1280, 720}, {{1, 30}}},
                      {V4L2_PIX_FMT_YUYV, {640, 480}, {{1, 30}, {1, 15}}},
                      {V4L2_PIX_FMT_YUYV, {1280, 720}, {{1, 10}}},
                      {v4l2_fourcc('G', 'R', 'E', 'Y'), {640, 360}, {{1, 15}}}}};
}

CaptureSettings small() {
    CaptureSettings settings;
    settings.encoding = Encoding::yuyv;
    settings.size = {640, 480};
    return settings;
}

std::string refusal(FakeCalls& calls, const std::string& name = "") {
    try {
        (void)openV4l2Camera(calls, name, small());
    } catch (const Error& error) {
        EXPECT_EQ(error.category, ErrorCategory::source);
        return error.what();
    }
    return "";
}

TEST(V4l2, ListsACameraOnceWithItsModes) {
    FakeCalls calls;
    calls.all["/dev/video0"] = laptop();
    calls.all["/dev/video1"] = {};  // metadata: it captures, it says, and has no format
    calls.all["/dev/video2"] = {.abilities = V4L2_CAP_VIDEO_OUTPUT | V4L2_CAP_STREAMING, .modes = laptop().modes};
    const auto devices = listDevices(calls);
    ASSERT_EQ(devices.size(), 1U);
    EXPECT_EQ(devices[0].path, "/dev/video0");
    EXPECT_EQ(devices[0].camera.name, "Integrated Camera");
    EXPECT_EQ(devices[0].camera.id, "usb-0000:00:14.0-6");
    EXPECT_EQ(devices[0].camera.modes, (std::vector<CameraMode>{{Encoding::mjpg, {1280, 720}, {30}},
                                                                {Encoding::yuyv, {1280, 720}, {10}},
                                                                {Encoding::yuyv, {640, 480}, {30, 15}},
                                                                {Encoding::other, {640, 360}, {15}}}));
    EXPECT_EQ(calls.opened, 0) << "a device stayed open";
}

TEST(V4l2, TellsTwoOfOneModelApartByTheirBus) {
    FakeCalls calls;
    calls.all["/dev/video0"] = laptop();
    calls.all["/dev/video2"] = laptop();
    calls.all["/dev/video2"].bus = "usb-0000:00:14.0-2";
    calls.all["/dev/video4"] = laptop();  // a second sensor on the same bus
    const auto devices = listDevices(calls);
    ASSERT_EQ(devices.size(), 3U);
    EXPECT_EQ(devices[0].camera.name, "Integrated Camera (2)");
    EXPECT_EQ(devices[1].camera.name, "Integrated Camera");
    EXPECT_EQ(devices[2].camera.name, "Integrated Camera (3)");
    EXPECT_NE(devices[0].camera.id, devices[2].camera.id);
}

TEST(V4l2, PicksTheUsualOutOfRanges) {
    FakeCalls calls;
    calls.all["/dev/video0"] = {.modes = {{V4L2_PIX_FMT_NV12, {}, {}}},
                                .first = [](unsigned long request, void* argument) {
                                    if (request == VIDIOC_ENUM_FRAMESIZES) {
                                        auto& answer = *static_cast<v4l2_frmsizeenum*>(argument);
                                        answer.type = V4L2_FRMSIZE_TYPE_STEPWISE;
                                        answer.stepwise = {32, 2592, 32, 32, 1944, 8};
                                        return 0;
                                    }
                                    if (request == VIDIOC_ENUM_FRAMEINTERVALS) {
                                        auto& answer = *static_cast<v4l2_frmivalenum*>(argument);
                                        answer.type = V4L2_FRMIVAL_TYPE_CONTINUOUS;
                                        answer.stepwise = {{1, 45}, {1, 5}, {1, 1}};
                                        return 0;
                                    }
                                    return -ENOTTY;
                                }};
    const auto modes = listDevices(calls).at(0).camera.modes;
    ASSERT_EQ(modes.size(), 5U);
    EXPECT_EQ(modes[0], (CameraMode{Encoding::nv12, {2592, 1944}, {45, 30, 24, 15, 10}}));
    EXPECT_EQ(modes[1].size, (Size{1920, 1080}));
}

/// Names without an end, endless lists, absurd sizes and rates.
TEST(V4l2, SurvivesADriverThatLies) {
    FakeCalls calls;
    calls.all["/dev/video0"] = {
        .modes = {{V4L2_PIX_FMT_YUYV, {}, {}}}, .first = [](unsigned long request, void* argument) {
            if (request == VIDIOC_QUERYCAP) {
                std::memset(argument, 'A', sizeof(v4l2_capability));
                static_cast<v4l2_capability*>(argument)->capabilities = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
                return 0;
            }
            if (request == VIDIOC_ENUM_FMT)
                return static_cast<v4l2_fmtdesc*>(argument)->pixelformat = V4L2_PIX_FMT_YUYV, 0;
            if (request == VIDIOC_ENUM_FRAMESIZES) {
                auto& answer = *static_cast<v4l2_frmsizeenum*>(argument);
                answer.type = V4L2_FRMSIZE_TYPE_DISCRETE;
                answer.discrete = {answer.index % 2 == 0 ? 0xffffffffU : 640, 480};
                return 0;
            }
            if (request == VIDIOC_ENUM_FRAMEINTERVALS) {
                auto& answer = *static_cast<v4l2_frmivalenum*>(argument);
                answer.type = V4L2_FRMIVAL_TYPE_DISCRETE;
                answer.discrete = {answer.index % 2, 0};
                return 0;
            }
            return -ENOTTY;
        }};
    const auto devices = listDevices(calls);
    ASSERT_EQ(devices.size(), 1U);
    EXPECT_EQ(devices[0].camera.name, std::string(32, 'A'));
    for (const auto& mode : devices[0].camera.modes) EXPECT_EQ(mode, (CameraMode{Encoding::yuyv, {640, 480}, {}}));
}

TEST(V4l2, GivesFramesAndLeavesNothingOpen) {
    FakeCalls calls;
    calls.all["/dev/video0"] = laptop();
    for (const char* name : {"", "Integrated Camera", "usb-0000:00:14.0-6", "/dev/video0"}) {
        auto source = openV4l2Camera(calls, name, small());
        EXPECT_EQ(source->info().name, "Integrated Camera");
        EXPECT_EQ(source->info().rate, 30);
        std::uint64_t last = 0;
        for (int i = 0; i < 20; ++i) {
            const auto frame = source->read({});
            ASSERT_TRUE(frame);
            EXPECT_EQ(frame->image->format(), PixelFormat::yuyv);
            EXPECT_EQ(frame->image->size(), (Size{640, 480}));
            EXPECT_EQ(frame->image->row(0)[0], frame->image->row(479)[1279]) << "torn";
            EXPECT_TRUE(i == 0 || frame->number > last);
            last = frame->number;
        }
        EXPECT_EQ(calls.mapped, 4);
        source.reset();
        EXPECT_EQ(calls.mapped, 0);
        EXPECT_EQ(calls.opened, 0);
        EXPECT_EQ(calls.streaming, 0);
    }
}

/// BGRA has two codes, and so have JPEGs; such cameras offer the second alone.
TEST(V4l2, AsksForTheCodeThatTheCameraOffers) {
    FakeCalls calls;
    calls.bytesPerPixel = 4;
    calls.all["/dev/video0"] = {
        .modes = {{V4L2_PIX_FMT_YUYV, {160, 120}, {{1, 30}}}, {V4L2_PIX_FMT_ABGR32, {320, 240}, {{1, 30}}}}};
    CaptureSettings wanted;
    wanted.encoding = Encoding::bgra;
    auto source = openV4l2Camera(calls, "", wanted);
    EXPECT_EQ(calls.agreed.pixelformat, V4L2_PIX_FMT_ABGR32);
    EXPECT_EQ(source->read({})->image->format(), PixelFormat::rgba8);
    source.reset();

    calls.jpeg = test::encode(test::testCard({320, 240}, 3, 8), ".jpg");
    calls.all["/dev/video0"].modes[1].fourcc = V4L2_PIX_FMT_JPEG;
    wanted.encoding = Encoding::mjpg;
    source = openV4l2Camera(calls, "", wanted);
    EXPECT_EQ(calls.agreed.pixelformat, V4L2_PIX_FMT_JPEG);
    EXPECT_EQ(source->read({})->image->size(), (Size{320, 240}));
}

/// The one of two codes that has the size, and each mode once.
TEST(V4l2, AsksForTheCodeThatHasTheSize) {
    FakeCalls calls;
    calls.all["/dev/video0"] = {.modes = {{V4L2_PIX_FMT_XBGR32, {640, 480}, {}},
                                          {V4L2_PIX_FMT_ABGR32, {640, 480}, {}},
                                          {V4L2_PIX_FMT_ABGR32, {320, 240}, {}}}};
    EXPECT_EQ(listDevices(calls).at(0).camera.modes,
              (std::vector<CameraMode>{{Encoding::bgra, {640, 480}, {}}, {Encoding::bgra, {320, 240}, {}}}));
    const V4l2File file(calls, "/dev/video0");
    EXPECT_EQ(offeredFourcc(file, Encoding::bgra, {320, 240}), V4L2_PIX_FMT_ABGR32);
    EXPECT_EQ(offeredFourcc(file, Encoding::bgra, {640, 480}), V4L2_PIX_FMT_XBGR32);
    EXPECT_EQ(offeredFourcc(file, Encoding::bgra, {1280, 720}), V4L2_PIX_FMT_XBGR32) << "the driver takes the nearest";
    EXPECT_EQ(offeredFourcc(file, Encoding::nv12, {640, 480}), 0U);
}

/// Drivers may answer with another format than the one that was asked for: what can't be is refused before it is read.
TEST(V4l2, RefusesFormatsThatCantBe) {
    struct Absurd {
        const char* what;
        std::uint32_t width, height, stride;
    };
    for (const Absurd& absurd :
         {Absurd{"no width", 0, 480, 0}, Absurd{"no height", 640, 0, 1280},
          Absurd{"negative once it is an int", 0xffffffff, 0xffffffff, 0xffffffff},
          Absurd{"more than 200 megapixels", 16384, 16384, 32768},
          Absurd{"rows longer than the stride", 640, 480, 1278}, Absurd{"more than its buffer holds", 1280, 720, 2560},
          Absurd{"a stride that the buffer does not hold", 640, 480, 0x7fffffff}}) {
        FakeCalls calls;
        calls.all["/dev/video0"] = laptop();
        calls.all["/dev/video0"].first = [&](unsigned long request, void* argument) {
            if (request != VIDIOC_S_FMT) return -ENOTTY;
            auto& format = static_cast<v4l2_format*>(argument)->fmt.pix;
            format.width = absurd.width;
            format.height = absurd.height;
            format.bytesperline = absurd.stride;
            return 0;
        };
        EXPECT_EQ(refusal(calls),
                  "The camera Integrated Camera announces pictures that can't be held: choose another size or format.")
            << absurd.what;
        EXPECT_EQ(calls.opened, 0) << absurd.what;
        EXPECT_EQ(calls.mapped, 0) << absurd.what;
    }
}

TEST(V4l2, PicturesThatAreAllTooShortAreALoss) {
    FakeCalls calls;
    calls.all["/dev/video0"] = laptop();
    auto source = openV4l2Camera(calls, "", small());
    ASSERT_TRUE(source->read({}));
    calls.missing = 1;
    try {
        while (source->read({})) continue;
        ADD_FAILURE() << "it ended";
    } catch (const Error& error) {
        EXPECT_EQ(error.category, ErrorCategory::source);
        EXPECT_NE(std::string(error.what()).find("come damaged"), std::string::npos) << error.what();
    }
}

TEST(V4l2, SaysWhatToDo) {
    FakeCalls calls;
    EXPECT_NE(refusal(calls).find("There is no camera"), std::string::npos);
    calls.all["/dev/video0"] = laptop();
    EXPECT_NE(refusal(calls, "Other").find("The camera Other is not there"), std::string::npos);
    calls.all["/dev/video0"].first = [](unsigned long request, void*) {
        return request == VIDIOC_S_FMT ? -EBUSY : -ENOTTY;
    };
    EXPECT_NE(refusal(calls).find("close it there and try again"), std::string::npos);
    calls.all["/dev/video0"].first = [](unsigned long request, void*) {
        return request == VIDIOC_STREAMON ? -ENOSPC : -ENOTTY;
    };
    EXPECT_NE(refusal(calls).find("No space left"), std::string::npos) << "two cameras on one slow bus";
    calls.all["/dev/video0"].first = nullptr;
    calls.all["/dev/video0"].openFault = -EACCES;
    EXPECT_NE(refusal(calls).find("group video"), std::string::npos);
    calls.all["/dev/video0"].openFault = 0;
    calls.all["/dev/video0"].modes = {{v4l2_fourcc('G', 'R', 'E', 'Y'), {1920, 1080}, {{1, 30}}}};
    EXPECT_NE(refusal(calls).find("no format that can be read"), std::string::npos);
    EXPECT_EQ(calls.opened, 0);
    EXPECT_EQ(calls.mapped, 0);
}

TEST(V4l2, TheRateIsWhatTheDriverAnswers) {
    FakeCalls calls;
    calls.all["/dev/video0"] = laptop();
    calls.all["/dev/video0"].first = [](unsigned long request, void* argument) {
        if (request != VIDIOC_S_PARM) return -ENOTTY;
        static_cast<v4l2_streamparm*>(argument)->parm.capture.timeperframe = {1001, 24000};
        return 0;
    };
    EXPECT_NEAR(openV4l2Camera(calls, "", small())->info().rate, 23.976, 0.001);
}

TEST(V4l2, UnpluggingAndSilenceEndTheReading) {
    FakeCalls calls;
    calls.all["/dev/video0"] = laptop();
    const auto lossOf = [&](FrameSource& source) -> std::string {
        try {
            while (source.read({})) continue;
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    auto source = openV4l2Camera(calls, "", small());
    ASSERT_TRUE(source->read({}));
    calls.waitFault = -ENODEV;
    EXPECT_NE(lossOf(*source).find("was unplugged"), std::string::npos);
    calls.waitFault = 0;
    source.reset();
    source = openV4l2Camera(calls, "", small());
    ASSERT_TRUE(source->read({}));
    calls.silent = true;
    EXPECT_NE(lossOf(*source).find("no pictures"), std::string::npos);
}

TEST(V4l2, NamesWhoHoldsACamera) {
    // This process holds a file: its own name is found.
    EXPECT_NE(v4l2Sentence("Cam", fs::read_symlink("/proc/self/exe"), -EBUSY).find("another program"),
              std::string::npos);
    const int file = ::open("/dev/null", 0);
    const std::string sentence = v4l2Sentence("Cam", "/dev/null", -EBUSY);
    ::close(file);
    EXPECT_EQ(sentence.find("another program"), std::string::npos) << sentence;
}

}  // namespace
}  // namespace matte
