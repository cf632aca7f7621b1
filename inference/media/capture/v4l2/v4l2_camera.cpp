// SPDX-License-Identifier: Apache-2.0
#include "inference/media/capture/v4l2/v4l2_device.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <iterator>
#include <thread>
#include <utility>
#include <vector>

#include <linux/videodev2.h>

#include "inference/core/error.h"
#include "inference/core/thread.h"
#include "inference/media/capture/camera_reader.h"
#include "inference/media/frame_convert.h"

namespace matte {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kBuffers = 4;
constexpr int kWaitMs = 50;  // how soon the capturing thread sees that it should end
constexpr std::chrono::milliseconds kStartTime{5000};

class V4l2Camera : public FrameSource {
public:
    V4l2Camera(V4l2Calls& calls,
               const V4l2Device& device,
               const CaptureChoice& wanted,
               PixelMemory memory,
               const std::stop_token& stop)
        : calls_(calls), device_(device), reader_(device.camera.name, wanted, memory), file_(calls, device.path) {
        if (file_.fault() < 0) fail(file_.fault());
        const CaptureChoice agreed = setFormat(wanted);
        reader_.setFormat(agreed, strideBytes_);
        if (const auto packed = packedRawStride(agreed.encoding, agreed.size.width); packed > 0) {
            const auto stride = strideBytes_ > 0 ? strideBytes_ : packed;
            leastBytes_ = rawBytes(agreed.encoding, agreed.size, stride);
        }
        try {
            mapBuffers();
            int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
            check(file_.control(VIDIOC_STREAMON, &type));
            thread_ = startThread(
                "the camera", ErrorCategory::source, [this](const std::stop_token& end) { capture(end); },
                [this](const char* sentence, ErrorCategory) { reader_.lose(sentence); });
            reader_.waitUntilReady(kStartTime, stop);
        } catch (...) {
            switchOff();
            throw;
        }
    }
    ~V4l2Camera() override { switchOff(); }
    V4l2Camera(const V4l2Camera&) = delete;
    V4l2Camera& operator=(const V4l2Camera&) = delete;

    std::optional<Frame> read(std::stop_token stop) override { return reader_.read(stop); }
    [[nodiscard]] SourceInfo info() const override { return reader_.info(); }

private:
    struct Mapping {
        void* memory = nullptr;
        std::size_t length = 0;
    };

    [[noreturn]] void fail(int fault) const {
        throw Error(ErrorCategory::source, v4l2Sentence(device_.camera.name, device_.path, fault));
    }
    void check(int answer) const {
        if (answer < 0) fail(answer);
    }

    /// The driver answers with what it will really send.
    CaptureChoice setFormat(const CaptureChoice& wanted) {
        v4l2_format format{};
        format.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
        format.fmt.pix.width = std::uint32_t(wanted.size.width);
        format.fmt.pix.height = std::uint32_t(wanted.size.height);
        format.fmt.pix.pixelformat = offeredFourcc(file_, wanted.encoding, wanted.size);
        format.fmt.pix.field = V4L2_FIELD_NONE;
        check(file_.control(VIDIOC_S_FMT, &format));
        const Encoding encoding = encodingOfFourcc(format.fmt.pix.pixelformat);
        (void)frameFormat(encoding);  // throws when it can't be read
        strideBytes_ = packedRawStride(encoding, 1) == 0 ? 0 : std::ptrdiff_t(format.fmt.pix.bytesperline);
        double rate = wanted.rate;
        v4l2_streamparm parameters{};
        parameters.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
        parameters.parm.capture.timeperframe = {1000, std::uint32_t(std::lround(wanted.rate * 1000))};
        // Not every driver lets the rate be set: then it is its own.
        if (file_.control(VIDIOC_S_PARM, &parameters) >= 0) {
            const v4l2_fract& interval = parameters.parm.capture.timeperframe;
            if (interval.numerator > 0 && interval.denominator > 0) {
                rate = double(interval.denominator) / interval.numerator;
            }
        }
        return {encoding, {int(format.fmt.pix.width), int(format.fmt.pix.height)}, rate};
    }

    void mapBuffers() {
        v4l2_requestbuffers request{};
        request.count = kBuffers;
        request.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
        request.memory = V4L2_MEMORY_MMAP;
        check(file_.control(VIDIOC_REQBUFS, &request));
        if (request.count == 0 || request.count > VIDEO_MAX_FRAME) fail(-ENOMEM);
        for (std::uint32_t i = 0; i < request.count; ++i) {
            v4l2_buffer buffer = bufferNumber(i);
            check(file_.control(VIDIOC_QUERYBUF, &buffer));
            if (buffer.length < leastBytes_) reader_.refuseFormat();
            void* memory = calls_.map(file_.number(), buffer.length, buffer.m.offset);
            if (!memory) fail(-ENOMEM);
            mappings_.push_back({memory, buffer.length});
            check(file_.control(VIDIOC_QBUF, &buffer));
        }
    }
    static v4l2_buffer bufferNumber(std::uint32_t index) {
        v4l2_buffer buffer{};
        buffer.index = index;
        buffer.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
        buffer.memory = V4L2_MEMORY_MMAP;
        return buffer;
    }

    /// The capturing thread. Silence is the reader's to notice.
    void capture(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            const int waited = calls_.wait(file_.number(), kWaitMs);
            if (waited == 0) continue;
            v4l2_buffer buffer = bufferNumber(0);
            const int answer = waited < 0 ? waited : file_.control(VIDIOC_DQBUF, &buffer);
            if (answer == -EAGAIN) continue;
            if (answer < 0) return reader_.lose(v4l2Sentence(device_.camera.name, device_.path, answer));
            if (buffer.index < mappings_.size()) deliver(buffer);
            if (const int back = file_.control(VIDIOC_QBUF, &buffer); back < 0) {
                return reader_.lose(v4l2Sentence(device_.camera.name, device_.path, back));
            }
        }
    }

    void deliver(const v4l2_buffer& buffer) {
        const Mapping& mapping = mappings_[buffer.index];
        if ((buffer.flags & V4L2_BUF_FLAG_ERROR) != 0) return reader_.skipDamaged();
        const std::size_t size = std::min<std::size_t>(buffer.bytesused, mapping.length);
        reader_.deliver({static_cast<const std::uint8_t*>(mapping.memory), size}, strideBytes_, capturedAt(buffer));
    }

    static Clock::time_point capturedAt(const v4l2_buffer& buffer) {
        if ((buffer.flags & V4L2_BUF_FLAG_TIMESTAMP_MASK) != V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC) return Clock::now();
        return CameraReader::plausible(Clock::time_point{std::chrono::seconds(buffer.timestamp.tv_sec) +
                                                         std::chrono::microseconds(buffer.timestamp.tv_usec)});
    }

    void switchOff() {
        if (thread_.joinable()) {
            thread_.request_stop();
            thread_.join();
        }
        int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
        file_.control(VIDIOC_STREAMOFF, &type);
        for (const auto& mapping : mappings_) calls_.unmap(mapping.memory, mapping.length);
        mappings_.clear();
    }

    V4l2Calls& calls_;
    const V4l2Device device_;
    CameraReader reader_;
    V4l2File file_;
    std::ptrdiff_t strideBytes_ = 0;  // as the driver says; 0: rows without padding, or none at all
    std::size_t leastBytes_ = 0;      // of one picture
    std::vector<Mapping> mappings_;
    std::jthread thread_;
};

}  // namespace

std::unique_ptr<FrameSource> openV4l2Camera(V4l2Calls& calls,
                                            const std::string& name,
                                            const CaptureSettings& settings,
                                            const std::stop_token& stop) {
    const auto devices = listDevices(calls);
    auto device = std::ranges::find(devices, std::filesystem::path(name), &V4l2Device::path);
    if (device == devices.end()) {
        std::vector<CameraInfo> cameras;
        std::ranges::transform(devices, std::back_inserter(cameras), &V4l2Device::camera);
        const CameraInfo* camera = findCamera(cameras, name);
        if (!camera) refuseMissingCamera(name);
        device = devices.begin() + (camera - cameras.data());
    }
    const CameraInfo& camera = device->camera;
    if (camera.modes.empty()) throw Error(ErrorCategory::source, v4l2Sentence(camera.name, device->path, -EACCES));
    return std::make_unique<V4l2Camera>(calls, *device, chosenMode(camera, settings), settings.memory, stop);
}

}  // namespace matte
