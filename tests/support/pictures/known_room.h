// SPDX-License-Identifier: Apache-2.0
// A room that nothing else looks like: squares of saturated red and blue behind the drawn test person, so that every
// pixel of it that gets out can be counted; and an engine that shows it when it is told to. Any thread.
#pragma once

#include <atomic>
#include <memory>

#include "inference/engine/engine.h"
#include "inference/media/frame_source.h"

namespace matte::test {

/// The person in that room, at so many frames a second until it is closed.
std::unique_ptr<FrameSource> openKnownRoom(Size size, double rate);

/// Whether a pixel is the room's, be it softened by a resampler.
constexpr bool isOfKnownRoom(int red, int green, int blue) {
    return green < 38 && ((red > 225 && blue < 38) || (blue > 225 && red < 38));
}

/// What an engine does wrong.
enum class Lapse {
    none = 1,
    broken,    ///< each frame throws Error(engine)
    unusable,  ///< its outputs are the frame itself, and say that they are not to be used
    betrayal   ///< its outputs are the frame itself: a matte of ones
};

/// `engine`, except for what `lapse` says at each frame.
std::unique_ptr<LiveEngine> lapsingEngine(std::unique_ptr<LiveEngine> engine, const std::atomic<Lapse>& lapse);

}  // namespace matte::test
