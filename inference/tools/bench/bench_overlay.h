// SPDX-License-Identifier: Apache-2.0
// matte-cli bench --overlay-cost: how much longer a live frame takes while the window's overlay is shown, for which
// each layer is timed. One thread.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "inference/engine/engine.h"

namespace matte {

/// The measurement for people and as JSON.
struct OverlayCost {
    std::string text, json;
};

/// Times frames of `image`, from submit() to the finished picture, with layers untimed and timed: at least `frames` of
/// each, as far as a minute allows, in turns, so that whatever slows the machine down meets both. Throws Error(engine),
/// Cancelled.
OverlayCost measureOverlay(LiveEngine& engine,
                           const std::shared_ptr<const Image>& image,
                           int frames,
                           const std::stop_token& stop);

}  // namespace matte
