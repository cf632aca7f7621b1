// SPDX-License-Identifier: Apache-2.0
// Peak rates of a machine and the share of them that an operation reached, after the roofline model (Williams,
// Waterman, Patterson, "Roofline", 2009). Plain values; any thread.
//
//     const std::optional<double> share = shareOfLimit(layer.flops, layer.bytes, ms, rates);
#pragma once

#include <optional>
#include <string>

namespace matte {

/// Peak rates, measured with short loops of our own; 0 where unknown.
struct MachineRates {
    double flopsPerSecond = 0, bytesPerSecond = 0;
    std::string text;  ///< how they were measured: "wgmma on random halves, a copy within the device's memory"
    [[nodiscard]] bool known() const { return flopsPerSecond > 0 && bytesPerSecond > 0; }
};

/// The least time in milliseconds that the machine needs: the longer of arithmetic and memory traffic. 0 without rates.
[[nodiscard]] double leastMs(double flops, double bytes, const MachineRates& rates);

/// leastMs() as a share, 0 to 1, of the measured `ms`. Empty when the rates are unknown, and for work that was faster
/// than the limit because another layer did part of it or its data were cached.
[[nodiscard]] std::optional<double> shareOfLimit(double flops, double bytes, double ms, const MachineRates& rates);

}  // namespace matte
