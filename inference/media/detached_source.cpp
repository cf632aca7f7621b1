// SPDX-License-Identifier: Apache-2.0
#include "inference/media/detached_source.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "inference/core/error.h"

namespace matte {
namespace {

/// What the two threads share: one asks, the other answers. It lives until both have let go.
struct Exchange {
    std::mutex mutex;  // guards everything but `left`
    std::condition_variable_any changed;
    bool isOpen = false;
    bool isAsked = false;     // for a frame
    bool isAnswered = false;  // with a frame, with the source's end, or with a fault
    std::optional<Frame> frame;
    std::exception_ptr fault;  // of opening or of reading
    SourceInfo info;
    std::stop_source left;  // nobody waits any more

    void answer(std::optional<Frame> read, std::exception_ptr why) {
        {
            const std::lock_guard lock(mutex);
            frame = std::move(read);
            fault = std::move(why);
            isAnswered = true;
        }
        changed.notify_all();
    }
};

/// The thread's work, from opening to closing.
void serve(const std::shared_ptr<Exchange>& shared,
           const std::function<std::unique_ptr<FrameSource>(std::stop_token)>& open) {
    const std::stop_token left = shared->left.get_token();
    try {
        const auto source = open(left);
        {
            const std::lock_guard lock(shared->mutex);
            shared->info = source->info();
            shared->isOpen = true;
        }
        shared->changed.notify_all();
        for (;;) {
            {
                std::unique_lock lock(shared->mutex);
                shared->changed.wait(lock, left, [&] { return shared->isAsked; });
                if (left.stop_requested()) return;
                shared->isAsked = false;
            }
            try {
                shared->answer(source->read(left), nullptr);
            } catch (...) {
                shared->answer(std::nullopt, std::current_exception());
            }
        }
    } catch (...) {
        shared->answer(std::nullopt, std::current_exception());
    }
}

class DetachedSource : public FrameSource {
public:
    explicit DetachedSource(std::shared_ptr<Exchange> shared) : shared_(std::move(shared)) {}
    ~DetachedSource() override { shared_->left.request_stop(); }
    DetachedSource(const DetachedSource&) = delete;
    DetachedSource& operator=(const DetachedSource&) = delete;

    std::optional<Frame> read(std::stop_token stop) override {
        std::unique_lock lock(shared_->mutex);
        // One that stopped waiting before gets what was read for it then.
        if (!std::exchange(isUnderWay_, true)) {
            shared_->isAsked = true;
            shared_->changed.notify_all();
        }
        shared_->changed.wait(lock, stop, [this] { return shared_->isAnswered; });
        if (stop.stop_requested()) return std::nullopt;
        shared_->isAnswered = isUnderWay_ = false;
        if (const auto fault = std::exchange(shared_->fault, nullptr)) std::rethrow_exception(fault);
        return std::exchange(shared_->frame, std::nullopt);
    }
    [[nodiscard]] SourceInfo info() const override {
        const std::lock_guard lock(shared_->mutex);
        return shared_->info;
    }

private:
    const std::shared_ptr<Exchange> shared_;
    bool isUnderWay_ = false;  // asked for, and not taken yet
};

/// Where a source that was opened is handed over. It goes with the last of the two threads.
struct Handover {
    std::mutex mutex;  // guards everything but `left`
    std::condition_variable_any changed;
    bool isDone = false;
    std::unique_ptr<FrameSource> source;
    std::exception_ptr fault;
    std::stop_source left;  // nobody waits any more

    void put(std::unique_ptr<FrameSource> opened, std::exception_ptr why) {
        {
            const std::lock_guard lock(mutex);
            source = std::move(opened);
            fault = std::move(why);
            isDone = true;
        }
        changed.notify_all();
    }
};

void startDetached(std::function<void()> work) {
    try {
        std::thread(std::move(work)).detach();
    } catch (const std::system_error&) {
        throw Error(Area::source, "The source can't be opened because too much is running: close other programs.");
    }
}

}  // namespace

std::unique_ptr<FrameSource> openDetached(std::function<std::unique_ptr<FrameSource>(std::stop_token)> open,
                                          const std::stop_token& stop) {
    const auto shared = std::make_shared<Exchange>();
    auto source = std::make_unique<DetachedSource>(shared);  // left behind, when this throws
    startDetached([shared, open = std::move(open)] { serve(shared, open); });
    std::unique_lock lock(shared->mutex);
    shared->changed.wait(lock, stop, [&] { return shared->isOpen || shared->isAnswered; });
    stopIfAsked(stop);
    if (shared->fault) std::rethrow_exception(shared->fault);
    return source;
}

std::unique_ptr<FrameSource> openOrLeave(std::function<std::unique_ptr<FrameSource>(std::stop_token)> open,
                                         const std::stop_token& stop) {
    const auto shared = std::make_shared<Handover>();
    startDetached([shared, open = std::move(open)] {
        try {
            shared->put(open(shared->left.get_token()), nullptr);
        } catch (...) {
            shared->put(nullptr, std::current_exception());
        }
    });
    std::unique_lock lock(shared->mutex);
    shared->changed.wait(lock, stop, [&] { return shared->isDone; });
    if (stop.stop_requested()) {
        shared->left.request_stop();
        throw Cancelled{};
    }
    if (shared->fault) std::rethrow_exception(shared->fault);
    return std::move(shared->source);
}

}  // namespace matte
