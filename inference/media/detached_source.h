// SPDX-License-Identifier: Apache-2.0
// A source that may be slow to open, to read and to close, such as an address on a network that does not answer: all of
// it happens on a thread of its own, and whoever waits can leave at once. A thread that was left behind ends, and
// closes its source, as soon as the call returns that it is in. One thread reads; info() on any.
//   auto source = openDetached([=](std::stop_token stop) { return openAddress(address, settings); }, stop);
#pragma once

#include <functional>
#include <memory>

#include "inference/media/frame_source.h"

namespace matte {

/// `open` is called on the new thread, where its source is also read and destroyed, perhaps after everything here: what
/// it holds must be its own. It, and the source, get a token that tells them that nobody waits any more. Throws what it
/// throws, and Cancelled when `stop` was asked for first.
std::unique_ptr<FrameSource> openDetached(std::function<std::unique_ptr<FrameSource>(std::stop_token)> open,
                                          const std::stop_token& stop);

/// The same for what only opening may be slow for: its source is the caller's, who reads it and waits for its end.
std::unique_ptr<FrameSource> openOrLeave(std::function<std::unique_ptr<FrameSource>(std::stop_token)> open,
                                         const std::stop_token& stop);

}  // namespace matte
