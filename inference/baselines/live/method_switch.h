// SPDX-License-Identifier: Apache-2.0
// MethodSwitch: which method the live network is to run by, and what came of it: what the window and the engine say to
// each other. Any thread; no call waits for the network.
//
//     auto methods = std::make_shared<MethodSwitch>();
//     SwitchingEngine engine(Engine::create(...), setup, methods);  // follows it from frame to frame
//     methods->choose(&networkMethodNamed("cpu-im2col"));
//     show(methods->status());
#pragma once

#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "inference/baselines/difference.h"
#include "inference/baselines/live/input_choice.h"
#include "inference/baselines/method.h"

namespace matte::ladder {

/// A plain value. Null methods are the product's own network.
struct MethodStatus {
    const Method* chosen = nullptr;
    const Method* running = nullptr;       ///< what the frames' network runs by now
    std::string problem;                   ///< why the last one chosen does not run; empty when all is well
    double ms = 0;                         ///< running's network, of the newest frame; 0 before its first
    Size input{};                          ///< of that frame
    std::string smaller;                   ///< why that is not the network's own input, a sentence; empty when it is
    double productMs = 0;                  ///< the product's network on the frame that was compared last
    std::optional<Difference> difference;  ///< of running's alpha from the product's network's, on the same input
};

class MethodSwitch {
public:
    /// `first` is chosen from the beginning.
    explicit MethodSwitch(const Method* first = nullptr) { status_.chosen = first; }

    /// Null is the product's own network. What is chosen lives as long as the switch.
    void choose(const Method* method);
    [[nodiscard]] MethodStatus status() const;

    // For the engine:
    [[nodiscard]] const Method* chosen() const;
    /// From now on frames run by `method`; its runs are to end by the token, which is triggered when they are in the
    /// way of another choice, or of its building.
    std::stop_token begin(const Method* method);
    /// They go on all the same.
    std::stop_token goOn();
    /// What was chosen is ready: the run under way need not be finished.
    void makeWay();
    /// A frame's network, whose own input is `own`.
    void measured(const TimedRun& run, Size own);
    void compared(double productMs, const Difference& difference);
    /// `method` does not run, because of `sentence`: if it is still chosen, the product's network is chosen instead.
    void failed(const Method& method, const std::string& sentence);

private:
    mutable std::mutex mutex_;
    MethodStatus status_;
    Size own_{};  ///< the network's own input for the frame that was measured last
    std::stop_source run_;
};

}  // namespace matte::ladder
