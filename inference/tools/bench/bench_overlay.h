// SPDX-License-Identifier: Apache-2.0
// matte-cli bench --overlay-cost: how much longer a live frame takes while the window's overlay is shown, that is,
// while each layer is timed. One thread.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "inference/engine/engine.h"
#include "inference/tools/bench/bench_report.h"

namespace matte {

/// Milliseconds of a live frame, from submit() to its finished picture: the mean of each turn of frames. The turns
/// alternate, so that whatever slows the machine down meets both.
struct OverlayTurns {
    std::vector<double> off, on;  ///< as many of each: off[i] and on[i] are neighbours
    int framesATurn = 0;
};

/// At least `frames` frames of each, as far as a minute allows. Throws Error(engine), Cancelled.
OverlayTurns measureOverlay(LiveEngine& engine,
                            std::shared_ptr<const Image> image,
                            int frames,
                            const std::stop_token& stop);

/// By which share a frame grows, over neighbouring turns: what slows the machine down for longer meets both.
Spread growthOf(const OverlayTurns& turns);
std::string overlayText(const OverlayTurns& turns, const EngineInfo& engine, Size frame);
std::string overlayJson(const OverlayTurns& turns, const EngineInfo& engine, Size frame);

}  // namespace matte
