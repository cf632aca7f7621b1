// SPDX-License-Identifier: Apache-2.0
#include "inference/media/capture/camera_list.h"

#include <atomic>
#include <optional>
#include <utility>

#include "inference/core/error.h"
#include "inference/media/capture/device_watch.h"
#ifdef _WIN32
#include "inference/media/capture/media_foundation/media_foundation_device.h"
#else
#include "inference/media/capture/v4l2/v4l2_device.h"
#include "inference/media/virtual_camera/virtual_camera.h"
#endif
#ifdef MATTE_HAVE_PIPEWIRE
#include "inference/media/capture/pipewire/pipewire_connection.h"
#endif

namespace matte {
namespace {

#ifdef _WIN32
constexpr const char* kSystem = "Media Foundation";
/// Windows tells programs' windows of new devices; asking for the list takes longer than a look at a folder does.
constexpr std::chrono::milliseconds kPause{1000};

class MediaFoundationDevices : public Devices {
public:
    std::vector<std::string> pluggedIn() override {
        plugged_ = pluggedInCameras();
        std::vector<std::string> ids;
        for (const auto& camera : plugged_) ids.push_back(idOf(*camera.Get()));
        return ids;
    }
    std::vector<CameraInfo> describe() override { return known_ = describeCameras(plugged_, known_); }

private:
    const MediaFoundation platform_;
    std::vector<ComPtr<IMFActivate>> plugged_;
    std::vector<CameraInfo> known_;
};
std::unique_ptr<Devices> systemDevices() {
    return std::make_unique<MediaFoundationDevices>();
}
#else
constexpr const char* kSystem = "V4L2";
/// The kernel tells of new devices through udev; a look at the folder twice a second does without it.
constexpr std::chrono::milliseconds kPause{500};

class V4l2Devices : public Devices {
public:
    std::vector<std::string> pluggedIn() override {
        std::vector<std::string> paths;
        for (const auto& path : systemCalls().devices()) paths.push_back(path.string());
        return paths;
    }
    std::vector<CameraInfo> describe() override {
        std::vector<CameraInfo> found;
        for (auto& device : listDevices(systemCalls())) found.push_back(std::move(device.camera));
        return found;
    }
};
std::unique_ptr<Devices> systemDevices() {
    return std::make_unique<V4l2Devices>();
}
#endif

}  // namespace

struct CameraList::Backends {
    explicit Backends(std::function<void()> toCall) : changed(std::move(toCall)) {}

    /// Called on the backends' threads, which begin before the list is whole: until then nobody can ask it.
    void tell() const {
        if (isWhole && changed) changed();
    }

    const std::function<void()> changed;
    std::atomic<bool> isWhole{false};
#ifdef MATTE_HAVE_PIPEWIRE
    PipeWireConnection pipewire{[this] { tell(); }, true};
#endif
    DeviceWatch devices{systemDevices, kPause, [this] { tell(); }};
};

CameraList::CameraList(std::function<void()> changed) : backends_(std::make_unique<Backends>(std::move(changed))) {
    backends_->isWhole = true;
}
CameraList::~CameraList() = default;

std::vector<CameraInfo> CameraList::cameras() const {
    std::vector<CameraInfo> cameras;
#ifdef MATTE_HAVE_PIPEWIRE
    cameras = backends_->pipewire.cameras();
#endif
    // A PipeWire without cameras may be one that serves sound alone.
    if (cameras.empty()) cameras = backends_->devices.cameras();
#ifndef _WIN32
    std::erase_if(cameras, [](const CameraInfo& camera) { return isOwnLoopbackCamera(camera.name); });
#endif
    return cameras;
}

void CameraList::waitUntilKnown(std::chrono::milliseconds most) const {
#ifdef MATTE_HAVE_PIPEWIRE
    backends_->pipewire.waitUntilKnown(most);
#endif
    backends_->devices.waitUntilKnown(most);
}

std::string CameraList::system() const {
#ifdef MATTE_HAVE_PIPEWIRE
    if (!backends_->pipewire.cameras().empty()) return "PipeWire";
    if (backends_->devices.cameras().empty() && backends_->pipewire.isConnected()) return "PipeWire";
#endif
    return kSystem;
}

std::unique_ptr<FrameSource> openCamera(const std::string& name,
                                        const CaptureSettings& settings,
                                        const std::stop_token& stop) {
#ifdef MATTE_HAVE_PORTAL
    std::optional<Error> refusal;
    if (isSandboxed()) {
        try {
            requestCameraAccess(stop);
        } catch (const Error& error) {
            refusal = error;
        }
    }
#endif
#ifdef MATTE_HAVE_PIPEWIRE
    if (auto source = openPipeWireCamera(name, settings, stop)) return source;
#endif
#ifdef MATTE_HAVE_PORTAL
    // Some sandboxes let cameras through without the portal; with none to be seen, its answer is the reason.
    if (refusal && listDevices(systemCalls()).empty()) throw *refusal;
#endif
#ifdef _WIN32
    return openMediaFoundationCamera(pluggedInCameras, name, settings, stop);
#else
    return openV4l2Camera(systemCalls(), name, settings, stop);
#endif
}

}  // namespace matte
