// SPDX-License-Identifier: Apache-2.0
// A live matte held steady where nothing moves: between the network and the guided filter, at the network's size. Where
// the blurred colour stayed as it was, alpha follows slowly, so that the network's flicker averages out; where it
// changed, at once, so that nothing trails; and a dim rest where nobody is goes at once, too. The colour that is
// compared with follows at alpha's rate: slow motion adds up until it counts. The formulas are in pixel_math.h. One
// thread at a time; no memory is allocated while the size stays.
//
//     steady.follow(picture, look.steadiness, matte);
#pragma once

#include "inference/core/image.h"

namespace matte {

class Steady {
public:
    /// Another source begins.
    void forget() { known_ = false; }
    /// `matte` [h, w, 1] in place; `picture` [h, w, 3] is what the network saw, sRGB-encoded, 0 to 1. The first frame,
    /// and the first of another size, stays as it is, and so do all with a steadiness of 0.
    void follow(const Planes& picture, float steadiness, Planes& matte);

private:
    void blurColors(const Planes& picture);
    void findMotion();

    bool known_ = false;
    Planes alpha_, reference_;       ///< of the frames before: [h, w, 1] and, blurred, [h, w, 3]
    Planes blurredAcross_, colors_;  ///< [h, w, 3]: along rows, and both ways
    Planes motionAcross_, motion_;   ///< [h, w, 1]
};

}  // namespace matte
