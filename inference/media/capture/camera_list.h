// SPDX-License-Identifier: Apache-2.0
// The cameras of this computer, kept up to date: PipeWire's where it has some, the kernel's (V4L2) otherwise, and
// Media Foundation's on Windows. Any thread.
//   CameraList list([this] { postCamerasChanged(); });
//   for (const auto& camera : list.cameras()) show(camera.name);
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "inference/media/capture/camera.h"

namespace matte {

class CameraList {
public:
    /// Returns at once; ask once after it. `changed` is called on a thread of the list's whenever a camera comes, goes,
    /// or is better known; it may ask the list, and must not destroy it.
    explicit CameraList(std::function<void()> changed = {});
    ~CameraList();
    CameraList(const CameraList&) = delete;
    CameraList& operator=(const CameraList&) = delete;

    [[nodiscard]] std::vector<CameraInfo> cameras() const;
    /// Waits until the cameras that are plugged in are known; for programs that list them once.
    void waitUntilKnown(std::chrono::milliseconds most) const;
    /// Who lists them: "PipeWire", "V4L2" or "Media Foundation".
    [[nodiscard]] std::string system() const;

private:
    struct Backends;
    std::unique_ptr<Backends> backends_;
};

/// Opens a camera by its name or id, the first for an empty name. Inside Flatpak and Snap the desktop asks the user
/// first, and no camera is listed before that. Throws Error(source): missing, busy, forbidden, silent;
/// Cancelled when `stop` was asked for.
std::unique_ptr<FrameSource> openCamera(const std::string& name,
                                        const CaptureSettings& settings,
                                        const std::stop_token& stop);

}  // namespace matte
