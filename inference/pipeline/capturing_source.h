// SPDX-License-Identifier: Apache-2.0
// CapturingSource: a source that says for how long it may be on: from before it is opened until after it is closed.
//   CapturingSource source([&](bool on) { showLight(on); }, [&] { return openSource(spec, settings, stop); });
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "inference/media/frame_source.h"

namespace matte {

class CapturingSource : public FrameSource {
public:
    /// Told on the thread that opens and closes: true before, and false once it is closed or could not be opened.
    using Tell = std::function<void(bool on)>;

    /// Throws what `open` throws.
    CapturingSource(Tell tell, const std::function<std::unique_ptr<FrameSource>()>& open)
        : on_(std::move(tell)), source_(open()) {}

    std::optional<Frame> read(std::stop_token stop) override { return source_->read(std::move(stop)); }
    [[nodiscard]] SourceInfo info() const override { return source_->info(); }

private:
    class On {
    public:
        explicit On(Tell tell) : tell_(std::move(tell)) { tell_(true); }
        ~On() { tell_(false); }
        On(const On&) = delete;
        On& operator=(const On&) = delete;

    private:
        const Tell tell_;
    };

    const On on_;  ///< first: it begins before the source is opened, and ends after it is closed
    std::unique_ptr<FrameSource> source_;
};

}  // namespace matte
