// SPDX-License-Identifier: Apache-2.0
#include "inference/media/frame_clock.h"

#include <algorithm>

#include "inference/media/source_spec.h"

namespace matte {

FrameClock::FrameClock(double rate) : rate_(rate >= kUnthrottled ? 0 : std::max(0.0, rate)) {}

bool FrameClock::sleepUntil(Time time, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    never_.wait_until(lock, stop, time, [] { return false; });
    return !stop.stop_requested();
}

std::optional<std::uint64_t> FrameClock::next(const std::stop_token& stop) {
    if (stop.stop_requested()) return std::nullopt;
    const Time now = std::chrono::steady_clock::now();
    if (rate_ == 0 || !start_) {
        if (!start_) start_ = now;
        due_ = now;
        return number_++;
    }
    const double elapsed = std::chrono::duration<double>(now - *start_).count();
    number_ = std::max(number_, std::uint64_t(elapsed * rate_));
    due_ = *start_ + std::chrono::duration_cast<Time::duration>(std::chrono::duration<double>(double(number_) / rate_));
    if (!sleepUntil(due_, stop)) return std::nullopt;
    return number_++;
}

}  // namespace matte
