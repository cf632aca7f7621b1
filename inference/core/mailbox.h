// SPDX-License-Identifier: Apache-2.0
// Mailbox: hands the newest value from one thread to another. One writer, one reader; a new value replaces one that was
// not taken yet.
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
    /// Writer: on return `value` holds the mailbox's previous content, so that its memory can be reused.
    void put(T& value) {
        {
            const std::scoped_lock lock(mutex_);
            std::swap(value_, value);
            isFull_ = true;
        }
        changed_.notify_all();
    }
    void put(T&& value) { put(value); }

    /// Writer: ends the series; the reader gets the first `why` in place of a value not yet taken.
    void fail(std::exception_ptr why) {
        {
            const std::scoped_lock lock(mutex_);
            if (!failure_) failure_ = std::move(why);
        }
        changed_.notify_all();
    }

    /// Reader: waits at most `most` for a value; false when none came. Throws the writer's failure, or Cancelled when
    /// `stop` is triggered.
    bool take(T& value, std::chrono::milliseconds most, const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, stop, most, [this] { return isFull_ || failure_; });
        return takeHeld(value, stop);
    }
    /// The same without a time limit.
    void take(T& value, const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, stop, [this] { return isFull_ || failure_; });
        takeHeld(value, stop);
    }

    /// Reader: throws the writer's failure, if any.
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

    mutable std::mutex mutex_;  ///< guards the members below
    std::condition_variable_any changed_;
    T value_{};
    bool isFull_ = false;
    std::exception_ptr failure_;
};

}  // namespace matte
