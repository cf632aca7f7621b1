// SPDX-License-Identifier: Apache-2.0
// What a machine could do at best: the roofline against which the lab holds each implementation. Any thread.
#pragma once

#include <string>

#include "inference/baselines/implementation.h"

namespace matte::baselines {

struct Limits {
    double flops = 0;        ///< a second, single precision, a multiply-add counted as two
    double tensorFlops = 0;  ///< a second, halves with sums in single precision; 0 where there are no tensor cores
    double bytes = 0;        ///< a second, from and to memory
    std::string text;        ///< where the figures come from

    /// Seconds that work of so many operations and bytes takes at least.
    [[nodiscard]] double seconds(double operations, double moved, bool tensorCores) const;
};

/// CPU: measured once, in a few tenths of a second. GPU: from the device's clocks and widths; throws Error(engine).
const Limits& limitsOf(Where where);
Limits deviceLimits();

}  // namespace matte::baselines
