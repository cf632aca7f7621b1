// SPDX-License-Identifier: Apache-2.0
// Lets frames out at their rate. One thread, the source's reader.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>

namespace matte {

class FrameClock {
public:
    using Time = std::chrono::steady_clock::time_point;

    /// A rate of 0, or kUnthrottled and above, never waits.
    explicit FrameClock(double rate);

    /// Waits until the next frame is due and returns its number. Frames whose time is over, because the reader was
    /// away, are left out, as a camera's would be. Null when `stop` was asked for.
    std::optional<std::uint64_t> next(const std::stop_token& stop);
    /// When the frame of the last next() was due.
    [[nodiscard]] Time due() const { return due_; }

    /// Waits until `time`; false when `stop` was asked for before.
    bool sleepUntil(Time time, const std::stop_token& stop);

private:
    std::mutex mutex_;
    std::condition_variable_any never_;  // waits on time and the stop token alone
    double rate_;
    std::optional<Time> start_;  // when frame 0 was given out
    std::uint64_t number_ = 0;
    Time due_{};
};

}  // namespace matte
