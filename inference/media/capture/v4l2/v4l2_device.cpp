// SPDX-License-Identifier: Apache-2.0
#include "inference/media/capture/v4l2/v4l2_device.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>

#include <linux/videodev2.h>

#include "inference/media/virtual_camera/virtual_camera.h"

namespace matte {
namespace {

constexpr std::uint32_t kMostAnswers = 256;  // a driver that never ends its list is cut off

constexpr std::array<std::pair<std::uint32_t, Encoding>, 13> kFormats{{{V4L2_PIX_FMT_MJPEG, Encoding::mjpg},
                                                                       {V4L2_PIX_FMT_JPEG, Encoding::mjpg},
                                                                       {V4L2_PIX_FMT_YUYV, Encoding::yuyv},
                                                                       {V4L2_PIX_FMT_UYVY, Encoding::uyvy},
                                                                       {V4L2_PIX_FMT_NV12, Encoding::nv12},
                                                                       {V4L2_PIX_FMT_YUV420, Encoding::i420},
                                                                       {V4L2_PIX_FMT_BGR24, Encoding::bgr},
                                                                       {V4L2_PIX_FMT_RGB24, Encoding::rgb},
                                                                       {V4L2_PIX_FMT_XBGR32, Encoding::bgra},
                                                                       {V4L2_PIX_FMT_ABGR32, Encoding::bgra},
                                                                       {V4L2_PIX_FMT_RGBX32, Encoding::rgba},
                                                                       {V4L2_PIX_FMT_RGBA32, Encoding::rgba},
                                                                       {V4L2_PIX_FMT_H264, Encoding::h264}}};

double rateOf(const v4l2_fract& interval) {
    return interval.numerator == 0 ? 0 : double(interval.denominator) / interval.numerator;
}

std::vector<double> readRates(const V4l2File& file, std::uint32_t fourcc, Size size) {
    std::vector<double> rates;
    for (std::uint32_t i = 0; i < kMostAnswers; ++i) {
        v4l2_frmivalenum answer{};
        answer.index = i;
        answer.pixel_format = fourcc;
        answer.width = std::uint32_t(size.width);
        answer.height = std::uint32_t(size.height);
        if (file.control(VIDIOC_ENUM_FRAMEINTERVALS, &answer) < 0) break;
        if (answer.type == V4L2_FRMIVAL_TYPE_DISCRETE) {
            rates.push_back(rateOf(answer.discrete));
            continue;
        }
        // The shortest interval is the highest rate.
        addRates(rates, rateOf(answer.stepwise.max), rateOf(answer.stepwise.min));
        break;  // a range is the only answer
    }
    tidyRates(rates);
    return rates;
}

std::vector<Size> readSizes(const V4l2File& file, std::uint32_t fourcc) {
    std::vector<Size> sizes;
    for (std::uint32_t i = 0; i < kMostAnswers; ++i) {
        v4l2_frmsizeenum answer{};
        answer.index = i;
        answer.pixel_format = fourcc;
        if (file.control(VIDIOC_ENUM_FRAMESIZES, &answer) < 0) break;
        if (answer.type == V4L2_FRMSIZE_TYPE_DISCRETE) {
            addSize(sizes, answer.discrete.width, answer.discrete.height);
            continue;
        }
        const v4l2_frmsize_stepwise& range = answer.stepwise;
        addUsualSizes(sizes, {range.min_width, range.min_height, range.max_width, range.max_height, range.step_width,
                              range.step_height});
        addSize(sizes, range.max_width, range.max_height);
        break;  // a range is the only answer
    }
    return sizes;
}

std::vector<std::uint32_t> readFourccs(const V4l2File& file) {
    std::vector<std::uint32_t> fourccs;
    for (std::uint32_t i = 0; i < kMostAnswers; ++i) {
        v4l2_fmtdesc format{};
        format.index = i;
        format.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
        if (file.control(VIDIOC_ENUM_FMT, &format) < 0) break;
        fourccs.push_back(format.pixelformat);
    }
    return fourccs;
}

std::vector<CameraMode> readModes(const V4l2File& file) {
    std::vector<CameraMode> modes;
    for (const std::uint32_t fourcc : readFourccs(file)) {
        for (const Size size : readSizes(file, fourcc)) {
            CameraMode mode{encodingOfFourcc(fourcc), size, readRates(file, fourcc, size)};
            if (std::find(modes.begin(), modes.end(), mode) == modes.end()) modes.push_back(std::move(mode));
        }
    }
    sortBySize(modes);
    return modes;
}

/// The program that holds the device, as far as the system lets us see it; empty when not.
std::string holderOf(const std::filesystem::path& device) {
    namespace fs = std::filesystem;
    std::error_code error;
    for (fs::directory_iterator process("/proc", error), end; !error && process != end; process.increment(error)) {
        std::error_code hidden;
        for (fs::directory_iterator file(process->path() / "fd", hidden), none; !hidden && file != none;
             file.increment(hidden)) {
            std::error_code gone;
            if (fs::read_symlink(file->path(), gone) != device || gone) continue;
            std::string name;
            std::getline(std::ifstream(process->path() / "comm"), name);
            return name;
        }
    }
    return {};
}

}  // namespace

std::string v4l2Text(std::span<const std::uint8_t> characters) {
    const auto* begin = reinterpret_cast<const char*>(characters.data());
    return withoutControls({begin, ::strnlen(begin, characters.size())});
}

V4l2File::V4l2File(V4l2Calls& calls, const std::filesystem::path& device) : calls_(calls), file_(calls.open(device)) {}
V4l2File::~V4l2File() {
    if (file_ >= 0) calls_.close(file_);
}

Encoding encodingOfFourcc(std::uint32_t fourcc) {
    return encodingIn(kFormats, fourcc);
}

std::uint32_t offeredFourcc(const V4l2File& file, Encoding encoding, Size size) {
    std::uint32_t offered = 0;
    for (const std::uint32_t fourcc : readFourccs(file)) {
        if (encodingOfFourcc(fourcc) != encoding) continue;
        const auto sizes = readSizes(file, fourcc);
        if (std::find(sizes.begin(), sizes.end(), size) != sizes.end()) return fourcc;
        if (offered == 0) offered = fourcc;
    }
    return offered;
}

std::optional<V4l2Device> readDevice(V4l2Calls& calls, const std::filesystem::path& path) {
    const V4l2File file(calls, path);
    if (file.fault() == -EACCES || file.fault() == -EPERM) {
        return V4l2Device{path, {path.string(), std::string("Camera ").append(path.string()), {}}};
    }
    v4l2_capability about{};
    if (file.fault() < 0 || file.control(VIDIOC_QUERYCAP, &about) < 0) return std::nullopt;
    const std::uint32_t abilities =
        (about.capabilities & V4L2_CAP_DEVICE_CAPS) != 0 ? about.device_caps : about.capabilities;
    if ((abilities & V4L2_CAP_VIDEO_CAPTURE) == 0 || (abilities & V4L2_CAP_STREAMING) == 0) return std::nullopt;
    V4l2Device device{path, {v4l2Text(about.bus_info), v4l2Text(about.card), readModes(file)}};
    if (device.camera.modes.empty()) return std::nullopt;  // the second device of many cameras, for metadata
    if (device.camera.id.empty()) device.camera.id = path.string();
    if (device.camera.name.empty()) device.camera.name = std::string("Camera ").append(path.string());
    return device;
}

std::vector<V4l2Device> listDevices(V4l2Calls& calls) {
    std::vector<V4l2Device> devices;
    for (const auto& path : calls.devices()) {
        auto device = readDevice(calls, path);
        if (!device || isOwnLoopbackCamera(device->camera.name)) continue;
        // One camera with two sensors has one bus: its devices differ in their path alone.
        for (const auto& other : devices) {
            if (other.camera.id == device->camera.id) device->camera.id.append(" ").append(path.string());
        }
        devices.push_back(std::move(*device));
    }
    std::vector<CameraInfo> cameras;
    cameras.reserve(devices.size());
    for (const auto& device : devices) cameras.push_back(device.camera);
    tellApart(cameras);
    for (auto& device : devices) {
        for (const auto& camera : cameras) {
            if (camera.id == device.camera.id) device.camera = camera;
        }
    }
    return devices;
}

std::string v4l2Sentence(const std::string& camera, const std::filesystem::path& path, int fault) {
    switch (-fault) {
        case EBUSY: {
            const std::string holder = holderOf(path);
            return "The camera " + camera + " is used by " + (holder.empty() ? "another program" : holder) +
                   ": close it there and try again.";
        }
        case EACCES:
        case EPERM:
            return "The camera " + camera + " may not be used: allow " + path.string() +
                   " to this user, for instance by adding the user to the group video.";
        case ENODEV:
        case ENOENT:
        case ENXIO: return "The camera " + camera + " was unplugged: plug it in again.";
        default:
            return "The camera " + camera + " can't be used (" + std::strerror(-fault) +
                   "): unplug it and plug it in again.";
    }
}

}  // namespace matte
