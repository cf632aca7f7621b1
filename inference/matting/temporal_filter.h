// SPDX-License-Identifier: Apache-2.0
// TemporalFilter: a recursive, motion-adaptive filter of the live matte, between the network and the guided filter, at
// the network's size. Where the blurred colour is constant, alpha follows slowly, which averages the network's flicker
// out; where it changes, alpha follows at once, which avoids trails. Faint alpha where the network finds nobody drops
// at once, too. The reference colour follows at the same rate as alpha, so that slow motion accumulates. The formulas
// are in pixel_math.h. One thread at a time; allocates only when the size changes.
//
//     temporal.apply(picture, params.temporalSmoothing, matte);
#pragma once

#include "inference/core/image.h"

namespace matte {

class TemporalFilter {
public:
    /// For a new source: clears the history.
    void reset() { known_ = false; }
    /// Filters `matte` [h, w, 1] in place; `picture` [h, w, 3] is the network's input, sRGB-encoded, 0 to 1. Leaves the
    /// first frame, the first of a new size, and every frame with a temporal smoothing of 0 unchanged.
    void apply(const Planes& picture, float temporalSmoothing, Planes& matte);

private:
    void blurColors(const Planes& picture);
    void findMotion();

    bool known_ = false;
    Planes alpha_, reference_;       ///< the history: filtered alpha [h, w, 1] and blurred colour [h, w, 3]
    Planes blurredAcross_, colors_;  ///< [h, w, 3]: blurred along rows, and along both axes
    Planes motionAcross_, motion_;   ///< [h, w, 1]
};

}  // namespace matte
