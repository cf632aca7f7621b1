// SPDX-License-Identifier: Apache-2.0
#include "inference/media/capture/device_watch.h"

#include <algorithm>
#include <utility>

#include "inference/core/thread.h"

namespace matte {

DeviceWatch::DeviceWatch(std::function<std::unique_ptr<Devices>()> open,
                         std::chrono::milliseconds pause,
                         std::function<void()> changed)
    : open_(std::move(open)),
      pause_(pause),
      changed_(std::move(changed)),
      // Without it the list of cameras stays as it is.
      thread_(startThread(
          "the list of cameras",
          ErrorCategory::source,
          [this](const std::stop_token& stop) { watch(stop); },
          [this](const char*, ErrorCategory) { show({}); })) {}

std::vector<CameraInfo> DeviceWatch::cameras() const {
    const std::lock_guard lock(mutex_);
    return cameras_;
}

void DeviceWatch::waitUntilKnown(std::chrono::milliseconds most) const {
    std::unique_lock lock(mutex_);
    looked_.wait_for(lock, most, [&] { return isKnown_; });
}

void DeviceWatch::watch(const std::stop_token& stop) {
    const auto devices = open_();
    // Asking a device wakes it up: only when something has changed. One that may not be opened yet, because its
    // permissions come a moment after it, has no modes and is asked again.
    bool isUnclear = true;
    for (std::vector<std::string> seen; !stop.stop_requested();) {
        auto now = devices->pluggedIn();
        if (now != seen || isUnclear) {
            auto found = devices->describe();
            isUnclear = std::any_of(found.begin(), found.end(), [](const auto& c) { return c.modes.empty(); });
            show(std::move(found));
        }
        seen = std::move(now);
        std::unique_lock lock(mutex_);
        looked_.wait_for(lock, stop, pause_, [] { return false; });
    }
}

void DeviceWatch::show(std::vector<CameraInfo> found) {
    bool isNew = false;
    {
        const std::lock_guard lock(mutex_);
        isNew = found != cameras_;
        cameras_ = std::move(found);
        isKnown_ = true;
    }
    looked_.notify_all();
    if (isNew && changed_) changed_();
}

}  // namespace matte
