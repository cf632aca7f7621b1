// SPDX-License-Identifier: Apache-2.0
#include "inference/media/virtual_camera/virtual_camera.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

#include <linux/videodev2.h>

#include "inference/core/error.h"
#include "inference/core/thread.h"
#include "inference/media/capture/v4l2/v4l2_device.h"
#include "inference/media/frame_clock.h"
#include "inference/media/virtual_camera/camera_picture.h"

namespace matte {
namespace {

constexpr char kDriver[] = "v4l2 loopback", kLabel[] = "Matte";
constexpr Size kSize{1280, 720};
constexpr int kMostSide = 8192;
constexpr std::uint32_t kRate = 30;
/// The module's own event since 0.13: how many read from it, in the first four bytes.
constexpr std::uint32_t kReadersChanged = V4L2_EVENT_PRIVATE_START + 0x08E00000 + 1;

std::mutex ownMutex;
std::string ownName;  // guarded by it

void setOwnName(const std::string& name) {
    const std::scoped_lock lock(ownMutex);
    ownName = name;
}

/// A device that can be written to; without a form yet.
struct Loopback {
    std::unique_ptr<V4l2File> file;
    std::string label;
};

/// Every device of the module that may be opened.
std::vector<Loopback> loopbacks(V4l2Calls& calls) {
    std::vector<Loopback> found;
    for (const auto& path : calls.devices()) {
        Loopback device{std::make_unique<V4l2File>(calls, path), {}};
        v4l2_capability about{};
        if (device.file->fault() != 0 || device.file->control(VIDIOC_QUERYCAP, &about) < 0) continue;
        const std::uint32_t caps =
            (about.capabilities & V4L2_CAP_DEVICE_CAPS) != 0 ? about.device_caps : about.capabilities;
        if (v4l2Text(about.driver) != kDriver || (caps & V4L2_CAP_VIDEO_OUTPUT) == 0) continue;
        device.label = v4l2Text(about.card);
        found.push_back(std::move(device));
    }
    std::stable_partition(found.begin(), found.end(), [](const Loopback& device) { return device.label == kLabel; });
    return found;
}

/// Agrees on what is written; the size, or nothing when another program writes already or it takes no such pictures.
std::optional<Size> agree(const V4l2File& file) {
    v4l2_format format{};
    format.type = V4L2_BUF_TYPE_VIDEO_OUTPUT;
    format.fmt.pix.width = std::uint32_t(kSize.width);
    format.fmt.pix.height = std::uint32_t(kSize.height);
    format.fmt.pix.pixelformat = V4L2_PIX_FMT_YUYV;
    format.fmt.pix.field = V4L2_FIELD_NONE;
    format.fmt.pix.bytesperline = std::uint32_t(kSize.width) * 2;
    format.fmt.pix.sizeimage = format.fmt.pix.bytesperline * std::uint32_t(kSize.height);
    format.fmt.pix.colorspace = V4L2_COLORSPACE_SRGB;
    if (file.control(VIDIOC_S_FMT, &format) < 0) return std::nullopt;
    const auto& pix = format.fmt.pix;
    const auto isSide = [](std::uint32_t side) { return side >= 2 && side <= kMostSide && side % 2 == 0; };
    if (pix.pixelformat != V4L2_PIX_FMT_YUYV || !isSide(pix.width) || !isSide(pix.height)) return std::nullopt;
    v4l2_streamparm rate{};
    rate.type = V4L2_BUF_TYPE_VIDEO_OUTPUT;
    rate.parm.output.timeperframe = {1, kRate};
    file.control(VIDIOC_S_PARM, &rate);  // which it need not take
    return Size{int(pix.width), int(pix.height)};
}

class LoopbackCamera final : public VirtualCamera {
public:
    LoopbackCamera(V4l2Calls& calls, Loopback device, Size size)
        : calls_(calls), device_(std::move(device)), drawing_(Encoding::yuyv, size) {
        black_ = drawing_.drawBlack();
        frame_ = black_;
        v4l2_event_subscription readers{};
        readers.type = kReadersChanged;
        readers.flags = V4L2_EVENT_SUB_FL_SEND_INITIAL;
        tellsReaders_ = device_.file->control(VIDIOC_SUBSCRIBE_EVENT, &readers) >= 0;
        isWatched_ = !tellsReaders_;
        write();  // before that it is no camera for others
        thread_ = startThread(
            "a virtual camera", ErrorCategory::output, [this](const std::stop_token& stop) { run(stop); },
            [this](const char*, ErrorCategory) { isLost_ = true; });
        setOwnName(device_.label);
    }
    ~LoopbackCamera() override { setOwnName(""); }

    void show(const ImageView& picture) override {
        if (isWatched_) set(drawing_.draw(picture));
    }
    void showNothing() override { set(black_); }  // as it is anyway while nobody reads
    [[nodiscard]] bool isWatched() const override { return isWatched_; }
    [[nodiscard]] std::string problem() const override {
        return isLost_ ? "The camera “" + device_.label +
                             "” is gone because v4l2loopback takes no more pictures: turn "
                             "it on again."
                       : "";
    }
    [[nodiscard]] std::vector<std::string> names() const override { return {device_.label}; }

private:
    void set(const std::vector<std::uint8_t>& frame) {
        const std::scoped_lock lock(mutex_);
        if (isWatched_) frame_ = frame;  // whoever reads next is not to see what was shown before
    }

    /// The thread: what stands still is written again, for whoever reads waits for the next picture.
    void run(const std::stop_token& stop) {
        FrameClock clock(kRate);
        while (!isLost_ && clock.next(stop)) {
            if (tellsReaders_) countReaders();
            if (isWatched_) write();
        }
        isWatched_ = false;
    }

    void countReaders() {
        v4l2_event event{};
        while (device_.file->control(VIDIOC_DQEVENT, &event) >= 0) {
            if (event.type != kReadersChanged) continue;
            std::uint32_t count = 0;
            std::copy_n(event.u.data, sizeof count, reinterpret_cast<std::uint8_t*>(&count));
            const std::scoped_lock lock(mutex_);
            isWatched_ = count > 0;
            if (count == 0) frame_ = black_;
        }
    }

    void write() {
        const std::scoped_lock lock(mutex_);
        const long written = calls_.write(device_.file->number(), frame_);
        if (written < 0 && written != -EAGAIN && written != -EINTR) isLost_ = true;
    }

    V4l2Calls& calls_;
    Loopback device_;
    CameraPicture drawing_;  ///< of whoever shows
    bool tellsReaders_ = false;
    std::atomic<bool> isWatched_ = false, isLost_ = false;
    std::vector<std::uint8_t> black_;
    std::mutex mutex_;  ///< guards the next one, and is held while isWatched_ changes with it
    std::vector<std::uint8_t> frame_;
    std::jthread thread_;  ///< last, so that it ends before everything that it uses
};

}  // namespace

std::unique_ptr<VirtualCamera> openLoopbackCamera(V4l2Calls& calls) {
    auto devices = loopbacks(calls);
    for (Loopback& device : devices) {
        const auto size = agree(*device.file);
        if (!size) continue;
        return std::make_unique<LoopbackCamera>(calls, std::move(device), *size);
    }
    if (devices.empty()) return nullptr;
    throw Error(ErrorCategory::output, "Another program writes to v4l2loopback's “" + devices.front().label +
                                           "” already: close it, or load v4l2loopback with more devices.");
}

bool isOwnLoopbackCamera(const std::string& name) {
    const std::scoped_lock lock(ownMutex);
    return !ownName.empty() && (name == ownName || name.starts_with(ownName + " ("));  // PipeWire adds “(V4L2)”
}

}  // namespace matte
