// SPDX-License-Identifier: Apache-2.0
// ImplementationSwitch: the implementation chosen for the live network, and its status, shared by the window and the
// engine. InputChoice: the size of its input. Any thread; no call waits for the network.
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

#include "inference/baselines/implementation.h"
#include "inference/model/unet.h"

namespace matte::baselines {

// How many milliseconds the network may take for a frame:
constexpr double kFirstFrameMs = 250;  ///< the first after a choice, so that its picture comes within a second
constexpr double kFrameMs = 800;       ///< the others, so that a whole frame takes a second at most
constexpr double kTooLongMs = 1000;    ///< a frame that takes longer makes the input smaller, once

/// Whether a run that has taken `spentMs`, and begun a share `begun` of its arithmetic, is certain to exceed `ms`.
bool isHopeless(double spentMs, double begun, double ms);

/// One run of the network at `input`.
struct TimedRun {
    Size input{};
    double ms = 0;
};

/// At which input an implementation runs the live network, so that a slow one gives pictures too: the network's own
/// where that is fast enough, otherwise the largest of the same shape at which a frame is. A plain value.
///
///     const InputChoice choice(unet, picture, options.networkLongestSide);
///     const Size input = choice.within(kFirstFrameMs, {choice.smallest(), measuredMs});
class InputChoice {
public:
    /// For pictures of `picture`'s shape. `longestSide` is the engine's option: 0 is the model's own. `unet` lives as
    /// long as this.
    InputChoice(const UNet& unet, Size picture, int longestSide)
        : unet_(unet), picture_(picture), longestSide_(longestSide) {}

    [[nodiscard]] Size own() const { return unet_.inputSize(picture_, longestSide_); }
    /// Where an implementation's speed is measured first.
    [[nodiscard]] Size smallest() const;
    /// The largest input at which a run is expected to take `ms` at most, by what `run` took for each of its pixels;
    /// the smallest one where none is so fast. A larger input takes less than this expects, for a pixel is cheaper
    /// there.
    [[nodiscard]] Size within(double ms, const TimedRun& run) const;
    /// The engine's option for `input`.
    [[nodiscard]] int longestSide(Size input) const { return input == own() ? longestSide_ : input.longest(); }

private:
    const UNet& unet_;
    Size picture_;
    int longestSide_;
};

/// A sentence on why an implementation runs at a smaller input than the network's own, and on the effect; empty when it
/// does not.
std::string whySmaller(const TimedRun& run, Size own);

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
    /// From now on frames run by `implementation`. Its runs end by the token, which is triggered when another choice,
    /// or its building, waits for them.
    std::stop_token begin(const Implementation* implementation);
    /// Cancels the current run: another implementation is ready, or the program ends.
    void makeWay();
    /// The network's run for a frame; `own` is the network's own input.
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
