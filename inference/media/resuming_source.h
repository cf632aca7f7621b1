// SPDX-License-Identifier: Apache-2.0
// ResumingSource: reopens a source that is lost, silent or busy, first at once and then every second. One thread reads;
// info() and retryNow() on any.
//   ResumingSource source([=](std::stop_token stop) { return openSource(spec, settings, stop); }, tellPeople);
//   CameraList list([&] { source.retryNow(); });
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "inference/media/frame_source.h"

namespace matte {

/// The pause before the next attempt, after one of `last`; 0 before the first.
std::chrono::milliseconds retryDelay(std::chrono::milliseconds last);

class ResumingSource : public FrameSource {
public:
    using Open = std::function<std::unique_ptr<FrameSource>(std::stop_token)>;
    /// Called on the reader's thread: with the sentence when the source is lost, each time that it is another one, and
    /// with an empty one when frames come again.
    using Tell = std::function<void(const std::string& sentence)>;
    using Delay = std::function<std::chrono::milliseconds(std::chrono::milliseconds last)>;

    /// Opens nothing yet: the first read() does, and waits for a source that is not there.
    ResumingSource(Open open, Tell tell, Delay delay = retryDelay);

    /// Null at the source's own end and when `stop` was asked for; throws what is no loss, Error(input) for instance.
    /// Numbers go on over a loss.
    std::optional<Frame> read(std::stop_token stop) override;
    /// Of the source, of the last one while it is lost; empty before the first.
    [[nodiscard]] SourceInfo info() const override;

    /// Ends the pause before the next attempt: something was plugged in.
    void retryNow();

private:
    bool reopen(const std::stop_token& stop);
    void lose(const std::string& sentence);
    bool pause(const std::stop_token& stop);

    const Open open_;
    const Tell tell_;
    const Delay nextDelay_;
    // The reader's:
    std::uint64_t offset_ = 0, next_ = 0;  // added to the source's numbers; the number after the last
    std::string told_;                     // the loss that people know of
    std::chrono::milliseconds delay_{0};

    mutable std::mutex mutex_;  // guards what follows against info() and retryNow()
    std::condition_variable_any retry_;
    std::unique_ptr<FrameSource> source_;
    SourceInfo info_;
    bool isRetryWanted_ = false;
};

}  // namespace matte
