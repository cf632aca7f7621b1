// SPDX-License-Identifier: Apache-2.0
// Times the stages of a stream with events at their borders; does nothing when it is off. One thread at a time.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "inference/cuda/cuda.h"
#include "inference/engine.h"

namespace matte {

class StageClock {
public:
    explicit StageClock(bool on) : on_(on) {}
    [[nodiscard]] bool on() const { return on_; }

    void start(cudaStream_t stream) {
        names_.clear();
        if (on_) record(stream);
    }
    /// Ends the stage `name`, which began at the call before.
    void mark(const char* name, cudaStream_t stream) {
        if (!on_) return;
        names_.emplace_back(name);
        record(stream);
    }
    /// Appends what was marked since start(). The stream has been waited for.
    void read(StageTimes& times) const {
        for (std::size_t i = 0; i < names_.size(); ++i) {
            times.push_back({names_[i], double(borders_[i + 1].msSince(borders_[i]))});
        }
    }

private:
    void record(cudaStream_t stream) {
        if (borders_.size() <= names_.size()) borders_.emplace_back();
        borders_[names_.size()].record(stream);
    }

    bool on_;
    std::vector<std::string> names_;
    std::deque<Event> borders_;  ///< one more than names
};

}  // namespace matte
