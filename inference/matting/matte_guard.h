// SPDX-License-Identifier: Apache-2.0
// MatteGuard: whether a live matte may be shown. A network that goes wrong while it runs (a flipped bit, a kernel that
// fails) may give a matte that is finite and covers the room. One that suddenly covers nearly everything is believed
// only if the picture changed as much as that takes: somebody who comes so near that fast changes most of it. A plain
// value, the same on the host and on the device. One source of frames, in their order.
//
//     const MatteFault fault = guard.judge(finite, coverage, change);
#pragma once

#include "inference/core/pixel_math.h"

namespace matte {

/// Why a matte is not shown.
enum class MatteFault : int { none = 0, notFinite, everything };

struct MatteGuard {
    /// Nearly everything: even a face that fills the frame leaves more than a twentieth in the corners.
    static constexpr float kNearlyAll = 0.95F;
    /// Where people covered more than that, they are near, and the next step may be to fill the frame.
    static constexpr float kNear = 0.7F;
    /// What newly belongs to a person has changed by at least so much on average, of 1: about 25 of 255 levels. People
    /// differ from rooms by more, and a camera's noise and somebody who talks and waves change a whole picture by a
    /// tenth of what is asked where they covered half of it.
    static constexpr float kContrast = 0.1F;

    static constexpr float kSteps = 4096;  ///< of the difference of 1

    int believed = 0;        ///< of `coverage`, how many are known
    float coverage[2] = {};  ///< of the last two mattes that were believed, the newer first
    float changeBefore = 0;  ///< of the frame before

    /// A change is added up in whole numbers, so that its sum does not depend on the order.
    MATTE_HOST_DEVICE static unsigned steps(float difference) { return unsigned(fabsf(difference) * kSteps); }
    MATTE_HOST_DEVICE static float meanOf(unsigned long long steps, unsigned long long values) {
        return float(double(steps) / double(values)) / kSteps;
    }

    /// Of a frame: whether its matte is finite; the share of pixels that are a person's rather than not; the mean
    /// absolute difference of the network's input (sRGB-encoded, 0 to 1) from the frame's before, 0 when there is none
    /// of that size. The very first matte of a source is believed whatever it covers: somebody may sit that near, and
    /// that the network is sound its self-test has shown.
    MATTE_HOST_DEVICE MatteFault judge(bool finite, float covered, float change) {
        const float changed = change + changeBefore;  // it is a matter of a frame or two
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
