// SPDX-License-Identifier: Apache-2.0
// What a machine reaches at best, and what share of that a piece of work did. Plain values; any thread.
//
//     const std::optional<double> share = shareOfLimit(layer.flops, layer.bytes, ms, rates);
#pragma once

#include <optional>
#include <string>

namespace matte {

/// What a machine reaches, measured by short loops of our own. Zeros where it is not known.
struct MachineRates {
    double flopsPerSecond = 0, bytesPerSecond = 0;
    std::string text;  ///< by what: "wgmma on random halves, a copy within the device's memory"
    [[nodiscard]] bool known() const { return flopsPerSecond > 0 && bytesPerSecond > 0; }
};

/// The milliseconds that the machine needs at least: the longer of calculating and moving data. 0 without rates.
[[nodiscard]] double leastMs(double flops, double bytes, const MachineRates& rates);

/// From 0 to 1, of the limit that the machine sets to work that took `ms`. Nothing where its rates are not known, and
/// for work that was faster than the limit: another layer did it too, or its data lay in a cache.
[[nodiscard]] std::optional<double> shareOfLimit(double flops, double bytes, double ms, const MachineRates& rates);

}  // namespace matte
