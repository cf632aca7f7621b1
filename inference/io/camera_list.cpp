// SPDX-License-Identifier: Apache-2.0
#include "inference/io/camera_list.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "inference/error.h"
#ifdef _WIN32
#include "inference/io/media_foundation_camera.h"
#else
#include "inference/io/v4l2_camera.h"
#endif
#ifdef MATTE_HAVE_PORTAL
#include <optional>

#include "inference/io/camera_portal.h"
#endif
#ifdef MATTE_HAVE_PIPEWIRE
#include "inference/io/pipewire_camera.h"
#include "inference/io/pipewire_connection.h"
#endif

namespace matte {
namespace {

#ifdef _WIN32
/// Windows tells of new devices to windows alone; asking for the list takes longer than a look at a folder does.
constexpr std::chrono::milliseconds kLook{1000};
constexpr const char* kSystem = "Media Foundation";

/// Media Foundation's cameras, for one thread.
class Devices {
public:
    /// Which are plugged in, without waking them up.
    std::vector<std::string> pluggedIn() {
        plugged_ = pluggedInCameras();
        std::vector<std::string> ids;
        for (const auto& camera : plugged_) ids.push_back(idOf(*camera.Get()));
        return ids;
    }
    /// What those of the last look can do, for which each is opened.
    [[nodiscard]] std::vector<CameraInfo> describe() const { return describeCameras(plugged_); }

private:
    const MediaFoundation platform_;
    std::vector<ComPtr<IMFActivate>> plugged_;
};
#else
/// The kernel tells of new devices through udev; a look at the folder twice a second does without it.
constexpr std::chrono::milliseconds kLook{500};
constexpr const char* kSystem = "V4L2";

/// V4L2's cameras, for one thread.
class Devices {
public:
    /// Which are plugged in, without waking them up.
    static std::vector<std::filesystem::path> pluggedIn() { return systemCalls().devices(); }
    /// What they can do, for which each is opened.
    static std::vector<CameraInfo> describe() {
        std::vector<CameraInfo> found;
        for (auto& device : listDevices(systemCalls())) found.push_back(std::move(device.camera));
        return found;
    }
};
#endif

/// The system's own cameras, looked for on a thread of its own.
class DeviceWatch {
public:
    explicit DeviceWatch(std::function<void()> changed)
        : changed_(std::move(changed)), thread_([this](const std::stop_token& stop) { watch(stop); }) {}

    [[nodiscard]] std::vector<CameraInfo> cameras() const {
        const std::lock_guard lock(mutex_);
        return cameras_;
    }
    void waitUntilKnown(std::chrono::milliseconds most) const {
        std::unique_lock lock(mutex_);
        looked_.wait_for(lock, most, [&] { return isKnown_; });
    }

private:
    void watch(const std::stop_token& stop) try {
        Devices devices;
        decltype(devices.pluggedIn()) seen;
        while (!stop.stop_requested()) {
            auto now = devices.pluggedIn();
            // Asking a device wakes it up: only when something has changed. One that may not be opened yet, because
            // its permissions come a moment after it, has no modes and is asked again.
            bool unclear = false;
            for (const auto& camera : cameras()) unclear |= camera.modes.empty();
            if (now != seen || unclear || !isKnown_) show(devices.describe());
            seen = std::move(now);
            std::unique_lock lock(mutex_);
            looked_.wait_for(lock, stop, kLook, [] { return false; });
        }
    } catch (const Error&) {  // Windows without Media Foundation: opening a camera says so
        show({});
    }

    void show(std::vector<CameraInfo> found) {
        bool changed = false;
        {
            const std::lock_guard lock(mutex_);
            changed = found != cameras_;
            cameras_ = std::move(found);
            isKnown_ = true;
        }
        looked_.notify_all();
        if (changed && changed_) changed_();
    }

    const std::function<void()> changed_;
    mutable std::mutex mutex_;  // guards the list: the watching thread writes it
    mutable std::condition_variable_any looked_;
    std::vector<CameraInfo> cameras_;
    bool isKnown_ = false;  // written by the watching thread with the lock held
    std::jthread thread_;
};

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
    DeviceWatch devices{[this] { tell(); }};
};

CameraList::CameraList(std::function<void()> changed) : backends_(std::make_unique<Backends>(std::move(changed))) {
    backends_->isWhole = true;
}
CameraList::~CameraList() = default;

std::vector<CameraInfo> CameraList::cameras() const {
#ifdef MATTE_HAVE_PIPEWIRE
    // A PipeWire without cameras may be one that serves sound alone.
    if (auto cameras = backends_->pipewire.cameras(); !cameras.empty()) return cameras;
#endif
    return backends_->devices.cameras();
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
