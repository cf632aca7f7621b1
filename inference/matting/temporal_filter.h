// SPDX-License-Identifier: Apache-2.0
// TemporalFilter: a recursive, motion-adaptive filter of the live matte, between the network and the guided filter, at
// the network's size. Where the blurred colour stayed as it was, alpha follows slowly, so that the network's flicker
// averages out; where it changed, alpha follows at once, so that nothing trails; a faint rest where nobody is goes at
// once, too. The reference colour follows at alpha's rate, so that slow motion adds up until it counts. The formulas
// are in pixel_math.h. One thread at a time; no memory is allocated while the size stays.
//
//     temporal.apply(picture, params.temporalSmoothing, matte);
#pragma once

#include "inference/core/image.h"

namespace matte {

class TemporalFilter {
public:
    /// Another source begins.
    void reset() { known_ = false; }
    /// `matte` [h, w, 1] in place; `picture` [h, w, 3] is the network's input, sRGB-encoded, 0 to 1. The first frame,
    /// and the first of another size, stays as it is, and so do all with a temporal smoothing of 0.
    void apply(const Planes& picture, float temporalSmoothing, Planes& matte);

private:
    void blurColors(const Planes& picture);
    void findMotion();

    bool known_ = false;
    Planes alpha_, reference_;       ///< of the frames before: [h, w, 1] and, blurred, [h, w, 3]
    Planes blurredAcross_, colors_;  ///< [h, w, 3]: along rows, and both ways
    Planes motionAcross_, motion_;   ///< [h, w, 1]
};

}  // namespace matte
