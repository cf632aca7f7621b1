// SPDX-License-Identifier: Apache-2.0
// The synthetic person as a camera. A loop of frames is drawn when it is opened, and handed out without a copy, so that
// it costs nothing beside what is measured: at most 32 frames in at most 256 MiB, 1080p takes 200 MB and about a
// second. One thread reads; info() and alpha() by any thread.
//   TestSource source({1920, 1080}, 60, {});
//   auto frame = source.read(stop);   source.alpha(frame->number);
#pragma once

#include <vector>

#include "inference/core/synthetic_person.h"
#include "inference/media/frame_clock.h"
#include "inference/media/frame_source.h"

namespace matte {

class TestSource : public FrameSource {
public:
    /// `settings` may ask for Encoding::yuyv or nv12; otherwise frames are bgr8.
    TestSource(Size size, double rate, const CaptureSettings& settings);

    std::optional<Frame> read(std::stop_token stop) override;
    [[nodiscard]] SourceInfo info() const override { return info_; }

    /// What the matte of that frame should be, gray8; drawn anew with each call.
    [[nodiscard]] Image alpha(std::uint64_t number) const { return person_.alpha(number); }

private:
    SourceInfo info_;
    SyntheticPerson person_;
    std::vector<std::shared_ptr<const Image>> loop_;
    FrameClock clock_;
};

/// The loop's length for pictures of that size.
int loopFrames(Size size);

}  // namespace matte
