// SPDX-License-Identifier: Apache-2.0
// DeviceWatch: polls for cameras on a thread of its own, for systems without notifications. Any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "inference/media/capture/camera.h"

namespace matte {

/// A system's list of cameras. One thread.
class Devices {
public:
    virtual ~Devices() = default;
    /// What is plugged in, in the system's own words; wakes nothing up.
    virtual std::vector<std::string> pluggedIn() = 0;
    /// What they are; those that may not be opened yet have no modes. Wakes them up.
    virtual std::vector<CameraInfo> describe() = 0;
};

class DeviceWatch {
public:
    /// `open` is called on the watching thread, where the devices stay; where it throws Error there are no cameras.
    /// `changed` is called on it too, whenever cameras() has become another list.
    DeviceWatch(std::function<std::unique_ptr<Devices>()> open,
                std::chrono::milliseconds pause,
                std::function<void()> changed);

    [[nodiscard]] std::vector<CameraInfo> cameras() const;
    /// Waits until the first look is over.
    void waitUntilKnown(std::chrono::milliseconds most) const;

private:
    void watch(const std::stop_token& stop);
    void show(std::vector<CameraInfo> found);

    const std::function<std::unique_ptr<Devices>()> open_;
    const std::chrono::milliseconds pause_;
    const std::function<void()> changed_;
    mutable std::mutex mutex_;  // guards the next three
    mutable std::condition_variable_any looked_;
    std::vector<CameraInfo> cameras_;
    bool isKnown_ = false;
    std::jthread thread_;
};

}  // namespace matte
