// SPDX-License-Identifier: Apache-2.0
// StandbyEngine: a photo engine that is made when it is first needed, for one caller at a time: the thread that runs
// the engines, and a picture of a lost device, which is made again where somebody asks for it. Any thread.
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
    /// `reason` is why no other engine is used.
    using Make = std::function<std::unique_ptr<PhotoEngine>(const std::string& reason)>;
    explicit StandbyEngine(Make make) : make_(std::move(make)) {}

    /// Makes it, for `reason`, if there is none.
    void make(const std::string& reason) {
        const std::scoped_lock lock(mutex_);
        makeOnce(reason);
    }
    /// The other engine is gone for good, because of `reason`.
    void takeOver(const std::string& reason) {
        const std::scoped_lock lock(mutex_);
        makeOnce(reason);
        if (!takenOver_) takenOver_ = reason;
    }
    /// Why it took over; empty while the other engine is not known to be gone.
    [[nodiscard]] std::optional<std::string> takenOver() const {
        const std::scoped_lock lock(mutex_);
        return takenOver_;
    }
    /// What `work` does with the engine, which is made for `reason` if there is none.
    template <typename Work>
    auto with(const std::string& reason, const Work& work) {
        const std::scoped_lock lock(mutex_);
        makeOnce(reason);
        return work(*engine_);
    }

private:
    /// With the lock held.
    void makeOnce(const std::string& reason) {
        if (!engine_) engine_ = make_(reason);
    }

    Make make_;
    mutable std::mutex mutex_;
    std::unique_ptr<PhotoEngine> engine_;
    std::optional<std::string> takenOver_;
};

}  // namespace matte
