// SPDX-License-Identifier: Apache-2.0
#include "inference/media/resuming_source.h"

#include <algorithm>
#include <utility>

#include "inference/core/error.h"

namespace matte {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kFirstDelay{125}, kLongestDelay{1000};

}  // namespace

milliseconds retryDelay(milliseconds last) {
    return std::clamp(last * 2, kFirstDelay, kLongestDelay);
}

ResumingSource::ResumingSource(Open open, Tell tell, Delay delay)
    : open_(std::move(open)), tell_(std::move(tell)), nextDelay_(std::move(delay)) {}

std::optional<Frame> ResumingSource::read(std::stop_token stop) {
    for (;;) {
        if (stop.stop_requested()) return std::nullopt;
        if (!source_ && !reopen(stop)) continue;
        try {
            auto frame = source_->read(stop);
            if (!frame) return std::nullopt;
            frame->number += offset_;
            next_ = frame->number + 1;
            delay_ = milliseconds(0);
            if (!told_.empty()) {
                told_.clear();
                if (tell_) tell_("");
            }
            return frame;
        } catch (const Error& error) {
            if (error.category != ErrorCategory::source) throw;
            lose(error.what());
        }
    }
}

/// One attempt, after its pause.
bool ResumingSource::reopen(const std::stop_token& stop) {
    if (!pause(stop)) return false;
    try {
        auto source = open_(stop);
        const std::lock_guard lock(mutex_);
        source_ = std::move(source);
        offset_ = next_;
        return true;
    } catch (const Cancelled&) {
        return false;
    } catch (const Error& error) {
        if (error.category != ErrorCategory::source) throw;
        lose(error.what());
        return false;
    }
}

void ResumingSource::lose(const std::string& sentence) {
    std::unique_ptr<FrameSource> lost;  // closed without the lock: it may take its time
    {
        const std::lock_guard lock(mutex_);
        if (source_) info_ = source_->info();
        lost = std::move(source_);
    }
    lost.reset();
    delay_ = nextDelay_(delay_);
    if (sentence == told_) return;
    told_ = sentence;
    if (tell_) tell_(sentence);
}

bool ResumingSource::pause(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    retry_.wait_for(lock, stop, delay_, [&] { return isRetryWanted_; });
    isRetryWanted_ = false;
    return !stop.stop_requested();
}

void ResumingSource::retryNow() {
    {
        const std::lock_guard lock(mutex_);
        isRetryWanted_ = true;
    }
    retry_.notify_all();
}

SourceInfo ResumingSource::info() const {
    const std::lock_guard lock(mutex_);
    return source_ ? source_->info() : info_;
}

}  // namespace matte
