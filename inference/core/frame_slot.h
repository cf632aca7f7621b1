// SPDX-License-Identifier: Apache-2.0
// Where a camera's thread leaves its newest picture for the reader, who waits until there is one. One writer, one
// reader; what the reader did not take in time is replaced, and its memory is used again.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "inference/core/frame.h"

namespace matte {

/// What came from a camera: pixels that can be used as they are, or a JPEG that the reader has to decode.
struct Arrival {
    Frame frame;                     ///< without an image for a JPEG
    std::vector<std::uint8_t> jpeg;  ///< keeps its room while it goes back and forth
};

class FrameSlot {
public:
    enum class Outcome { arrived, late, lost, stopped };

    /// The writer's: `arrival` comes back holding what was there before, for its memory.
    void put(Arrival& arrival) {
        {
            const std::lock_guard lock(mutex_);
            std::swap(held_, arrival);
            isFull_ = true;
        }
        changed_.notify_all();
    }

    /// The source is gone, for the reason that the sentence gives; the first one stays.
    void lose(const std::string& sentence) {
        {
            const std::lock_guard lock(mutex_);
            if (!lost_) lost_ = sentence;
        }
        changed_.notify_all();
    }

    /// The reader's: waits at most `most`. After a loss nothing more is given out.
    Outcome take(Arrival& arrival, std::chrono::milliseconds most, const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, stop, most, [&] { return isFull_ || lost_; });
        if (stop.stop_requested()) return Outcome::stopped;
        if (lost_) return Outcome::lost;
        if (!isFull_) return Outcome::late;
        std::swap(held_, arrival);
        isFull_ = false;
        return Outcome::arrived;
    }

    [[nodiscard]] std::string lossSentence() const {
        const std::lock_guard lock(mutex_);
        return lost_.value_or("");
    }

private:
    mutable std::mutex mutex_;  // guards everything: the camera's thread against the reader's
    std::condition_variable_any changed_;
    Arrival held_;
    bool isFull_ = false;
    std::optional<std::string> lost_;
};

}  // namespace matte
