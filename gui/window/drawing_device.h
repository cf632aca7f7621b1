// SPDX-License-Identifier: Apache-2.0
// DrawingDevice: which GPU draws the window, told by the thread that draws to the one that makes the live engine, so
// that pictures need not go from one card to another. Any thread.
#pragma once

#include <mutex>
#include <string>
#include <utility>

namespace matte {

class DrawingDevice {
public:
    /// As GlFacts::device: the UUID's 16 bytes, or empty.
    void set(std::string uuid) {
        const std::scoped_lock lock(mutex_);
        uuid_ = std::move(uuid);
    }
    /// Empty also while no window was drawn yet.
    [[nodiscard]] std::string uuid() const {
        const std::scoped_lock lock(mutex_);
        return uuid_;
    }

private:
    mutable std::mutex mutex_;
    std::string uuid_;
};

}  // namespace matte
