// SPDX-License-Identifier: Apache-2.0
// Mailbox: one value from a thread to another, the newest alone. One writer, one reader; a value that was not taken in
// time is replaced.
//
//     mailbox.put(frame);                                    // the writer
//     if (mailbox.take(frame, 50ms, stop)) show(frame);      // the reader
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stop_token>
#include <utility>

#include "inference/core/error.h"

namespace matte {

template <typename T>
class Mailbox {
public:
    /// The writer's: `value` comes back holding what was there before, so that its memory can be used again.
    void put(T& value) {
        {
            const std::scoped_lock lock(mutex_);
            std::swap(value_, value);
            isFull_ = true;
        }
        changed_.notify_all();
    }
    void put(T&& value) { put(value); }

    /// The writer's: no more values; the reader gets `why`, of which the first stays, instead of a value left here.
    void fail(std::exception_ptr why) {
        {
            const std::scoped_lock lock(mutex_);
            if (!failure_) failure_ = std::move(why);
        }
        changed_.notify_all();
    }

    /// The reader's: waits at most `most` for a value; false when none came. Throws what the writer failed with, and
    /// Cancelled when `stop` was asked for.
    bool take(T& value, std::chrono::milliseconds most, const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, stop, most, [this] { return isFull_ || failure_; });
        return takeHeld(value, stop);
    }
    /// The same without a limit.
    void take(T& value, const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, stop, [this] { return isFull_ || failure_; });
        takeHeld(value, stop);
    }

    /// The reader's: throws what the writer failed with, if it did.
    void throwFailure() const {
        const std::scoped_lock lock(mutex_);
        if (failure_) std::rethrow_exception(failure_);
    }

private:
    bool takeHeld(T& value, const std::stop_token& stop) {
        stopIfAsked(stop);
        if (failure_) std::rethrow_exception(failure_);
        if (!isFull_) return false;
        std::swap(value_, value);
        isFull_ = false;
        return true;
    }

    mutable std::mutex mutex_;  ///< guards what follows
    std::condition_variable_any changed_;
    T value_{};
    bool isFull_ = false;
    std::exception_ptr failure_;
};

}  // namespace matte
