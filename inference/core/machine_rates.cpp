// SPDX-License-Identifier: Apache-2.0
#include "inference/core/machine_rates.h"

#include <algorithm>

namespace matte {

double leastMs(double flops, double bytes, const MachineRates& rates) {
    if (!rates.known()) return 0;
    return 1e3 * std::max(flops / rates.flopsPerSecond, bytes / rates.bytesPerSecond);
}

std::optional<double> shareOfLimit(double flops, double bytes, double ms, const MachineRates& rates) {
    const double least = leastMs(flops, bytes, rates);
    if (least <= 0 || ms < least) return std::nullopt;
    return least / ms;
}

}  // namespace matte
