// SPDX-License-Identifier: Apache-2.0
#include "inference/tools/bench/bench.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include <nlohmann/json.hpp>

namespace matte {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr int kFramesATurn = 16;  // the GPU's engine times one frame in eight
constexpr int kLeastTurns = 3;
constexpr auto kLongEnough = std::chrono::seconds(60);  // however many frames were asked for
constexpr double kBar = 0.03;

/// Milliseconds of a frame, the mean of each turn of frames.
struct OverlayTurns {
    std::vector<double> off, on;  ///< as many of each: off[i] and on[i] are neighbours
};

OverlayTurns measureTurns(LiveEngine& engine,
                          const std::shared_ptr<const Image>& image,
                          int frames,
                          const std::stop_token& stop) {
    OverlayTurns turns;
    const CompositeParams params;
    std::uint64_t number = 0;
    const auto turn = [&](bool timed) {
        engine.timeLayers(timed);
        const auto start = Clock::now();
        for (int i = 0; i < kFramesATurn; ++i) {
            stopIfAsked(stop);
            engine.submit({image, number++, Clock::now()}, params);
            (void)engine.take();
        }
        return std::chrono::duration<double, std::milli>(Clock::now() - start).count() / kFramesATurn;
    };
    turn(false);  // warm up: memory, clocks, and what is made once
    turn(true);
    const int count = std::max(kLeastTurns, (frames + kFramesATurn - 1) / kFramesATurn);
    const auto begin = Clock::now();
    for (int i = 0; i < count && (i < kLeastTurns || Clock::now() - begin < kLongEnough); ++i) {
        const bool onFirst = i % 2 == 1;  // neither always comes second
        if (onFirst) turns.on.push_back(turn(true));
        turns.off.push_back(turn(false));
        if (!onFirst) turns.on.push_back(turn(true));
    }
    engine.timeLayers(false);
    engine.reset();
    return turns;
}

}  // namespace

OverlayCost measureOverlay(LiveEngine& engine,
                           const std::shared_ptr<const Image>& image,
                           int frames,
                           const std::stop_token& stop) {
    const OverlayTurns turns = measureTurns(engine, image, frames, stop);
    std::vector<double> growths;
    for (std::size_t i = 0; i < turns.on.size(); ++i) growths.push_back(turns.on[i] / turns.off[i] - 1);
    const Spread off = spreadOf(turns.off), on = spreadOf(turns.on), growth = spreadOf(std::move(growths));
    const EngineInfo info = engine.info();
    const Size frame = image->size();
    char text[500];
    std::snprintf(text, sizeof text,
                  "Frame        %dx%d by %s\n"
                  "overlay off  %9.3f ms  (p10 %.3f, p90 %.3f)\n"
                  "overlay on   %9.3f ms  (p10 %.3f, p90 %.3f)\n"
                  "growth       %+9.2f %%   (p10 %+.2f, p90 %+.2f of %zu pairs of turns of %d frames); it should stay "
                  "below %.0f %%\n",
                  frame.width, frame.height, info.name.substr(0, 200).c_str(), off.median, off.p10, off.p90, on.median,
                  on.p10, on.p90, 100 * growth.median, 100 * growth.p10, 100 * growth.p90, turns.on.size(),
                  kFramesATurn, 100 * kBar);
    const auto json = [](const Spread& ms) { return Json{{"p10", ms.p10}, {"median", ms.median}, {"p90", ms.p90}}; };
    const Json document{{"version", MATTE_VERSION},
                        {"engine", info.name},
                        {"frame", {frame.width, frame.height}},
                        {"overlay",
                         {{"offMs", json(off)},
                          {"onMs", json(on)},
                          {"turns", turns.on.size()},
                          {"framesATurn", kFramesATurn},
                          {"growthPercent", 100 * growth.median}}}};
    return {text, document.dump(2) + "\n"};
}

}  // namespace matte
