// SPDX-License-Identifier: Apache-2.0
// FrameClock: when the next frame of a paced source is due. One thread, the source's reader.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>

#include "inference/media/source_spec.h"

namespace matte {

class FrameClock {
public:
    using Time = std::chrono::steady_clock::time_point;

    /// A rate of 0, or kUnthrottled and above, never waits.
    explicit FrameClock(double rate) : rate_(rate >= kUnthrottled ? 0 : std::max(0.0, rate)) {}

    /// Waits until the next frame is due and returns its number. Frames whose time is over, because the reader was
    /// away, are left out, as a camera's would be. Null when `stop` was asked for.
    std::optional<std::uint64_t> next(const std::stop_token& stop) {
        if (stop.stop_requested()) return std::nullopt;
        const Time now = std::chrono::steady_clock::now();
        if (rate_ == 0 || !start_) {
            if (!start_) start_ = now;
            due_ = now;
            return number_++;
        }
        const double elapsed = std::chrono::duration<double>(now - *start_).count();
        number_ = std::max(number_, std::uint64_t(elapsed * rate_));
        due_ = *start_ +
               std::chrono::duration_cast<Time::duration>(std::chrono::duration<double>(double(number_) / rate_));
        if (!sleepUntil(due_, stop)) return std::nullopt;
        return number_++;
    }
    /// When the frame of the last next() was due.
    [[nodiscard]] Time due() const { return due_; }

    /// Waits until `time`; false when `stop` was asked for before.
    bool sleepUntil(Time time, const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        never_.wait_until(lock, stop, time, [] { return false; });
        return !stop.stop_requested();
    }

private:
    std::mutex mutex_;
    std::condition_variable_any never_;  // waits on time and the stop token alone
    double rate_;
    std::optional<Time> start_;  // when frame 0 was given out
    std::uint64_t number_ = 0;
    Time due_{};
};

}  // namespace matte
