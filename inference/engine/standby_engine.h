// SPDX-License-Identifier: Apache-2.0
// StandbyEngine: a photo engine that is created when it is first needed, and used under a lock: by the thread that runs
// the engines, and by pictures of a lost device, which are computed again on the thread that fetches them. Any thread.
//
//     StandbyEngine standby(createCpu);
//     auto cutout = standby.with("The GPU is lost.", [&](PhotoEngine& engine) { return engine.cutOut(photo); });
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "inference/engine/engine.h"

namespace matte {

class StandbyEngine {
public:
    /// `reason`: why the standby is needed.
    using Make = std::function<std::unique_ptr<PhotoEngine>(const std::string& reason)>;
    explicit StandbyEngine(Make make) : make_(std::move(make)) {}

    /// Creates the engine if there is none yet.
    void make(const std::string& reason) {
        const std::scoped_lock lock(mutex_);
        makeOnce(reason);
    }
    /// Records that the first engine is lost permanently, because of `reason`.
    void takeOver(const std::string& reason) {
        const std::scoped_lock lock(mutex_);
        makeOnce(reason);
        if (!takenOver_) takenOver_ = reason;
    }
    /// The reason given to takeOver(); empty before.
    [[nodiscard]] std::optional<std::string> takenOver() const {
        const std::scoped_lock lock(mutex_);
        return takenOver_;
    }
    /// Returns `work(engine)`; creates the engine first if there is none yet.
    template <typename Work>
    auto with(const std::string& reason, const Work& work) {
        const std::scoped_lock lock(mutex_);
        makeOnce(reason);
        return work(*engine_);
    }

private:
    /// Requires the lock.
    void makeOnce(const std::string& reason) {
        if (!engine_) engine_ = make_(reason);
    }

    Make make_;
    mutable std::mutex mutex_;
    std::unique_ptr<PhotoEngine> engine_;
    std::optional<std::string> takenOver_;
};

}  // namespace matte
