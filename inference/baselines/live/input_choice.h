// SPDX-License-Identifier: Apache-2.0
// InputChoice: at which input an implementation runs the live network, so that a slow one gives pictures too: the
// network's own where that is fast enough, otherwise the largest of the same shape at which a frame is. Plain values;
// any thread.
//
//     const InputChoice choice(unet, picture, options.networkLongestSide);
//     const Size input = choice.within(kFirstFrameMs, {choice.smallest(), measuredMs});
#pragma once

#include <string>

#include "inference/model/unet.h"

namespace matte::baselines {

// How many milliseconds the network may take for a frame:
constexpr double kFirstFrameMs = 250;  ///< the first after a choice, so that its picture comes within a second
constexpr double kFrameMs = 800;       ///< the others, so that a whole frame takes a second at most
constexpr double kTooLongMs = 1000;    ///< a frame that takes longer makes the input smaller, once

/// Whether a run that took `spentMs` so far is sure to take more than `ms`, when what has begun of it is `begun` of its
/// arithmetic, 0 to 1.
bool isHopeless(double spentMs, double begun, double ms);

/// One run of the network at `input`.
struct TimedRun {
    Size input{};
    double ms = 0;
};

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

/// For people, why an implementation does not run at the network's own input, and what comes of it; empty when it does.
std::string whySmaller(const TimedRun& run, Size own);

}  // namespace matte::baselines
