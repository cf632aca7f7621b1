// SPDX-License-Identifier: Apache-2.0
// EngineSupply: makes the live engines of a pipeline, at once or beside those that run. Others are made on a thread of
// their own and compute one frame there, so that whatever they prepare for its size is ready. They take over between
// two frames: the frames under way begin again in them, in their order. The worker's thread, except where said.
//
//     EngineSupply<Tag> supply(makeEngines, [&] { wakeTheWorker(); });
//     supply.make(queue);
//     supply.change(makeOthers);                 // any thread
//     supply.proceed(queue, lastFrame, params);  // true once: the queue is another
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "inference/core/thread.h"
#include "inference/engine/live_queue.h"

namespace matte {

template <typename Tag>
class EngineSupply {
public:
    using Queue = LiveQueue<Tag>;

    /// `onNews` is called when proceed() has something to do, or state() has changed; by any thread.
    EngineSupply(MakeLiveEngines make, std::function<void()> onNews)
        : make_(std::move(make)), onNews_(std::move(onNews)) {}

    /// Other engines are to run. Any thread.
    void change(MakeLiveEngines make) {
        const std::scoped_lock lock(mutex_);
        wanted_ = std::move(make);
        problem_.clear();
    }
    /// Of the last change(): whether its engines do not run yet, and why they can't be had, if so. Any thread.
    [[nodiscard]] std::pair<bool, std::string> state() const {
        const std::scoped_lock lock(mutex_);
        return {wanted_ || isPreparing_, problem_};
    }
    /// Whether proceed() has something to do. Any thread.
    [[nodiscard]] bool isDue() const {
        const std::scoped_lock lock(mutex_);
        return isReady_ || (wanted_ && !isPreparing_);
    }

    /// Replaces `queue` by the newest engines at once. Throws what making them throws; then there is none.
    void make(std::unique_ptr<Queue>& queue) {
        queue.reset();
        {
            const std::scoped_lock lock(mutex_);
            if (wanted_) make_ = std::exchange(wanted_, {});
        }
        queue = std::make_unique<Queue>(make_());
    }

    /// Starts to prepare the engines that are wanted, which compute `frame`; or replaces `queue`, which may be null, by
    /// those that are ready. Returns whether it did.
    bool proceed(std::unique_ptr<Queue>& queue, const std::optional<Frame>& frame, const CompositeParams& params) {
        if (takeReady(queue)) return true;
        {
            const std::scoped_lock lock(mutex_);
            if (!wanted_ || isPreparing_) return false;
            isPreparing_ = true;
            preparing_ = std::exchange(wanted_, {});
        }
        const auto work = [this, make = preparing_, frame, params] { return prepare(make, frame, params); };
        const auto failed = [this](const char* sentence, ErrorCategory) {
            const std::scoped_lock lock(mutex_);
            problem_ = sentence;
            isPreparing_ = false;
        };
        guarded([&] { prepared_ = std::async(std::launch::async, work); }, failed);
        return false;
    }

private:
    /// Null when it fails.
    std::unique_ptr<Queue> prepare(const MakeLiveEngines& make,
                                   const std::optional<Frame>& frame,
                                   const CompositeParams& params) {
        std::unique_ptr<Queue> queue;
        std::string problem;
        const auto work = [&] {
            auto made = std::make_unique<Queue>(make());
            if (frame) {
                made->submit(*frame, params, {});
                if (!made->take().output.matteUsable()) throw NoMatte();
                made->reset();
            }
            queue = std::move(made);
        };
        guarded(work, [&](const char* sentence, ErrorCategory) { problem = sentence; });
        {
            const std::scoped_lock lock(mutex_);
            if (!wanted_) problem_ = problem;
            isReady_ = true;
        }
        onNews_();
        return queue;
    }

    /// Engines that failed, or are not the newest that are wanted, are dropped.
    bool takeReady(std::unique_ptr<Queue>& queue) {
        {
            const std::scoped_lock lock(mutex_);
            if (!isReady_) return false;
        }
        std::unique_ptr<Queue> next = prepared_.get();  // without the lock, which its thread may want
        bool taken = false;
        {
            const std::scoped_lock lock(mutex_);
            isReady_ = isPreparing_ = false;
            taken = next && !wanted_;
        }
        if (taken) {
            make_ = std::move(preparing_);
            if (queue) next->takeOver(*queue);
            std::swap(queue, next);
        }
        // A device takes its time to give memory back.
        const auto end = [&] {
            ended_ = std::async(std::launch::async, [old = std::move(next)]() mutable { old.reset(); });
        };
        if (next) guarded(end, untold);
        onNews_();
        return taken;
    }

    mutable std::mutex mutex_;  ///< guards what follows
    MakeLiveEngines wanted_;    ///< change()'s, until they are begun
    std::string problem_;
    bool isPreparing_ = false, isReady_ = false;

    MakeLiveEngines make_, preparing_;  ///< of the engines that run, and of those in preparation; worker only
    const std::function<void()> onNews_;
    std::future<void> ended_;
    std::future<std::unique_ptr<Queue>> prepared_;  ///< last: it is waited for before what it uses goes
};

}  // namespace matte
