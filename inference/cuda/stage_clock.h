// SPDX-License-Identifier: Apache-2.0
// StreamClock: times consecutive parts of a stream's work with CUDA events, also inside a graph; does nothing when off.
// StageClock's marks are stages, LayerClock's are layer indices. One thread at a time.
//
//     clock.start(stream, true);
//     …                               // enqueue the stage
//     clock.mark(Stage::upload, stream);
//     stream.wait();
//     clock.read([](Stage stage, double ms) { … });
#pragma once

#include <deque>
#include <vector>

#include "inference/cuda/device/cuda.h"
#include "inference/engine/stage.h"

namespace matte {

template <typename Mark>
class StreamClock {
public:
    void start(cudaStream_t stream, bool on) {
        on_ = on;
        marks_.clear();
        if (on_) record(stream);
    }
    /// Ends the part that began at the previous call and labels it `mark`.
    void mark(Mark mark, cudaStream_t stream) {
        if (!on_) return;
        marks_.push_back(mark);
        record(stream);
    }
    [[nodiscard]] std::size_t marks() const { return marks_.size(); }
    /// The marks from index `first` on.
    [[nodiscard]] std::vector<Mark> marksFrom(std::size_t first) const {
        return {marks_.begin() + std::ptrdiff_t(first), marks_.end()};
    }
    /// Replaces the same calls of mark() when the launch of a graph makes them.
    void repeat(const std::vector<Mark>& marks) {
        if (on_) marks_.insert(marks_.end(), marks.begin(), marks.end());
    }
    /// Calls found(mark, milliseconds) for each mark since start(). Synchronise the stream first.
    template <typename Found>
    void read(const Found& found) const {
        for (std::size_t i = 0; i < marks_.size(); ++i) found(marks_[i], double(borders_[i + 1].msSince(borders_[i])));
    }

private:
    void record(cudaStream_t stream) {
        if (borders_.size() <= marks_.size()) borders_.emplace_back();
        borders_[marks_.size()].record(stream);
    }

    bool on_ = false;
    std::vector<Mark> marks_;
    std::deque<Event> borders_;  ///< one more than marks_
};
using StageClock = StreamClock<Stage>;
using LayerClock = StreamClock<int>;

}  // namespace matte
