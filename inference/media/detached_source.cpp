// SPDX-License-Identifier: Apache-2.0
#include "inference/media/frame_source.h"

#include <exception>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "inference/core/error.h"
#include "inference/core/mailbox.h"
#include "inference/core/thread.h"

namespace matte {
namespace {

/// What the source's thread gives, one at a time.
struct Answer {
    std::unique_ptr<FrameSource> source;  ///< for openOrLeave()
    SourceInfo info;
    std::optional<Frame> frame;  ///< empty at the source's end
    std::exception_ptr fault;    ///< of opening or of reading

    void throwFault() const {
        if (fault) std::rethrow_exception(fault);
    }
};

/// What the two threads share: one asks, the other answers. It lives until both have let go.
struct Exchange {
    struct Question {};
    Mailbox<Question> questions;  ///< for a frame each
    Mailbox<Answer> answers;      ///< the first once the source is open
    std::stop_source left;        ///< nobody waits any more

    /// On the source's thread: answers with what `work` makes. False when it threw.
    template <typename Work>
    bool answer(const Work& work) {
        Answer made;
        try {
            work(made);
        } catch (...) {
            made.fault = std::current_exception();
        }
        const bool isGood = !made.fault;
        answers.put(std::move(made));
        return isGood;
    }
    /// On the other: waits for an answer. Throws Cancelled.
    Answer await(const std::stop_token& stop) {
        Answer taken;
        answers.take(taken, stop);
        return taken;
    }
};

/// The thread's work, from opening to closing.
void serve(Exchange& shared, const std::function<std::unique_ptr<FrameSource>(std::stop_token)>& open) {
    const std::stop_token left = shared.left.get_token();
    std::unique_ptr<FrameSource> source;
    const bool isOpen = shared.answer([&](Answer& made) {
        source = open(left);
        made.info = source->info();
    });
    if (!isOpen) return;
    for (Exchange::Question question;;) {
        shared.questions.take(question, left);
        shared.answer([&](Answer& made) { made.frame = source->read(left); });
    }
}

class DetachedSource : public FrameSource {
public:
    explicit DetachedSource(std::shared_ptr<Exchange> shared) : shared_(std::move(shared)) {}
    ~DetachedSource() override { shared_->left.request_stop(); }
    DetachedSource(const DetachedSource&) = delete;
    DetachedSource& operator=(const DetachedSource&) = delete;

    /// Waits until the source is open. Throws what opening threw, and Cancelled.
    void open(const std::stop_token& stop) {
        const Answer opened = shared_->await(stop);
        opened.throwFault();
        info_ = opened.info;
    }

    std::optional<Frame> read(std::stop_token stop) override {
        // One that stopped waiting before gets what was read for it then.
        if (!std::exchange(isUnderWay_, true)) shared_->questions.put({});
        try {
            Answer taken = shared_->await(stop);
            isUnderWay_ = false;
            taken.throwFault();
            return std::move(taken.frame);
        } catch (const Cancelled&) {
            if (stop.stop_requested()) return std::nullopt;
            throw;
        }
    }
    [[nodiscard]] SourceInfo info() const override { return info_; }

private:
    const std::shared_ptr<Exchange> shared_;
    SourceInfo info_;
    bool isUnderWay_ = false;  // asked for, and not taken yet
};

void startDetached(std::function<void()> work) {
    try {
        std::thread(std::move(work)).detach();
    } catch (const std::system_error&) {
        throw Error(ErrorCategory::source,
                    "The source can't be opened because too much is running: close other programs.");
    }
}

}  // namespace

std::unique_ptr<FrameSource> openDetached(std::function<std::unique_ptr<FrameSource>(std::stop_token)> open,
                                          const std::stop_token& stop) {
    const auto shared = std::make_shared<Exchange>();
    auto source = std::make_unique<DetachedSource>(shared);  // left behind, when this throws
    startDetached([shared, open = std::move(open)] { guarded([&] { serve(*shared, open); }, untold); });
    source->open(stop);
    return source;
}

std::unique_ptr<FrameSource> openOrLeave(std::function<std::unique_ptr<FrameSource>(std::stop_token)> open,
                                         const std::stop_token& stop) {
    const auto shared = std::make_shared<Exchange>();
    startDetached([shared, open = std::move(open)] {
        shared->answer([&](Answer& made) { made.source = open(shared->left.get_token()); });
    });
    try {
        Answer opened = shared->await(stop);
        opened.throwFault();
        return std::move(opened.source);
    } catch (...) {
        shared->left.request_stop();
        throw;
    }
}

}  // namespace matte
