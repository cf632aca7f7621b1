// SPDX-License-Identifier: Apache-2.0
// ImplementationSwitch: which implementation the live network is to run by, and what came of it: what the window and
// the engine say to each other. Any thread; no call waits for the network.
//
//     auto implementations = std::make_shared<ImplementationSwitch>();
//     engines.selector = std::make_unique<BaselineSelector>(product, implementations);  // follows it between frames
//     implementations->choose(&networkImplementationNamed("cpu-im2col"));
//     show(implementations->status());
#pragma once

#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "inference/baselines/difference.h"
#include "inference/baselines/implementation.h"
#include "inference/baselines/live/input_choice.h"

namespace matte::baselines {

/// A plain value. Null implementations are the product's own network.
struct ImplementationStatus {
    const Implementation* chosen = nullptr;
    const Implementation* running = nullptr;  ///< what the frames' network runs by now
    std::string problem;                      ///< why the last one chosen does not run; empty when all is well
    double ms = 0;                            ///< running's network, of the newest frame; 0 before its first
    Size input{};                             ///< of that frame
    std::string smaller;                      ///< why that is not the network's own input, a sentence; empty when it is
    double productMs = 0;                     ///< the product's network on the frame that was compared last
    std::optional<Difference> difference;     ///< of running's alpha from the product's network's, on the same input
};

class ImplementationSwitch {
public:
    /// `first` is chosen from the beginning.
    explicit ImplementationSwitch(const Implementation* first = nullptr) { status_.chosen = first; }

    /// Null is the product's own network. What is chosen lives as long as the switch.
    void choose(const Implementation* implementation);
    [[nodiscard]] ImplementationStatus status() const;

    // For the engine:
    [[nodiscard]] const Implementation* chosen() const;
    /// From now on frames run by `implementation`; its runs are to end by the token, which is triggered when they are
    /// in the way of another choice, or of its building.
    std::stop_token begin(const Implementation* implementation);
    /// The run under way need not be finished: what was chosen is ready, or the program ends.
    void makeWay();
    /// A frame's network, whose own input is `own`.
    void measured(const TimedRun& run, Size own);
    void compared(double productMs, const Difference& difference);
    /// `implementation` does not run, because of `sentence`: if it is still chosen, the product's network is chosen
    /// instead.
    void failed(const Implementation& implementation, const std::string& sentence);

private:
    mutable std::mutex mutex_;
    ImplementationStatus status_;
    Size own_{};  ///< the network's own input for the frame that was measured last
    std::stop_source run_;
};

}  // namespace matte::baselines
