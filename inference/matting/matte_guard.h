// SPDX-License-Identifier: Apache-2.0
// MatteGuard: decides whether a live matte may be shown. A network that fails at run time (a flipped bit, a faulty
// kernel) may give a finite matte that covers, and so shows, the whole room. A matte that suddenly covers nearly
// everything is accepted only if the picture changed accordingly: a person who moves that close changes most of it. A
// plain value, identical on host and device. For the frames of one source, in order.
//
//     const MatteFault fault = guard.judge(finite, coverage, change);
#pragma once

#include "inference/core/pixel_math.h"

namespace matte {

/// Why a matte is not shown.
enum class MatteFault : int { none = 0, notFinite, everything };

struct MatteGuard {
    /// Coverage that counts as nearly everything: even a face that fills the frame leaves over 5% in the corners.
    static constexpr float kNearlyAll = 0.95F;
    /// Above this coverage people are so close that they may fill the frame next.
    static constexpr float kNear = 0.7F;
    /// Minimum mean change of newly covered pixels, of 1: about 25 levels of 255. People differ more than that from
    /// rooms. Camera noise, or a person who covers half of the picture and talks and waves, changes the picture by a
    /// tenth of what is required.
    static constexpr float kContrast = 0.1F;

    static constexpr float kSteps = 4096;  ///< integer steps per unit of difference

    int believed = 0;        ///< valid entries of `coverage`
    float coverage[2] = {};  ///< of the last two accepted mattes, newer first
    float changeBefore = 0;  ///< change of the previous frame

    /// Differences are summed as integers, so that the sum does not depend on the order.
    MATTE_HOST_DEVICE static unsigned steps(float difference) { return unsigned(fabsf(difference) * kSteps); }
    MATTE_HOST_DEVICE static float meanOf(unsigned long long steps, unsigned long long values) {
        return float(double(steps) / double(values)) / kSteps;
    }

    /// Judges one frame. `finite`: whether its matte is; `covered`: share of pixels with alpha above a half; `change`:
    /// mean absolute difference of the network's input (sRGB-encoded, 0 to 1) from the previous frame's, 0 if there is
    /// none of that size. The first matte of a source is accepted at any coverage: a person may sit that close, and the
    /// self-test has verified the network.
    MATTE_HOST_DEVICE MatteFault judge(bool finite, float covered, float change) {
        const float changed = change + changeBefore;  // a person may take two frames to fill the picture
        changeBefore = change;
        if (!finite) return MatteFault::notFinite;
        if (believed > 0 && covered > kNearlyAll) {
            const float least = believed > 1 && coverage[1] < coverage[0] ? coverage[1] : coverage[0];
            if (least < kNear && changed < kContrast * (covered - least)) return MatteFault::everything;
        }
        coverage[1] = coverage[0];
        coverage[0] = covered;
        if (believed < 2) ++believed;
        return MatteFault::none;
    }
};

}  // namespace matte
