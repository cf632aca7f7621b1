// SPDX-License-Identifier: Apache-2.0
// Times the stages of a stream with events at their borders, also inside a graph; does nothing when it is off. One
// thread at a time.
//
//     clock.start(stream, true);
//     …                               // enqueue the stage
//     clock.mark("upload", stream);
//     stream.wait();
//     clock.read(times);
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "inference/cuda/device/cuda.h"
#include "inference/engine/engine.h"

namespace matte {

class StageClock {
public:
    void start(cudaStream_t stream, bool on) {
        on_ = on;
        names_.clear();
        if (on_) record(stream);
    }
    /// Ends the stage `name`, which began at the call before.
    void mark(const std::string& name, cudaStream_t stream) {
        if (!on_) return;
        names_.push_back(name);
        record(stream);
    }
    [[nodiscard]] std::size_t marks() const { return names_.size(); }
    /// What was marked from the mark `first` on.
    [[nodiscard]] std::vector<std::string> marksFrom(std::size_t first) const {
        return {names_.begin() + std::ptrdiff_t(first), names_.end()};
    }
    /// Instead of the same calls of mark(): a graph was launched that makes them.
    void repeat(const std::vector<std::string>& marks) {
        if (on_) names_.insert(names_.end(), marks.begin(), marks.end());
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

    bool on_ = false;
    std::vector<std::string> names_;
    std::deque<Event> borders_;  ///< one more than names
};

}  // namespace matte
