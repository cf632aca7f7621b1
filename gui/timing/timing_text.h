// SPDX-License-Identifier: Apache-2.0
// The texts of the timing overlay. Any thread.
#pragma once

#include <QStringList>

#include "inference/pipeline/statistics.h"

namespace matte {

/// With the unit, and as many digits as matter: "0.253 ms", "17.7 ms", "123 ms".
[[nodiscard]] QString milliseconds(double ms);
/// Of the latency, in milliseconds: "p95 5.21   p99 17.7 ms".
[[nodiscard]] QString percentiles(double p95, double p99);
[[nodiscard]] QString dataSize(double bytes);
/// "41 %", or "–" for what is not known (yet).
[[nodiscard]] QString percent(std::optional<double> share);

/// Of the frame's time; 0 before the first.
[[nodiscard]] double shareOfFrame(const LiveStatistics& statistics, std::size_t layer);
/// Of what the hardware reaches at best; nothing while that is not known.
[[nodiscard]] std::optional<double> shareOfLimit(const LiveStatistics& statistics, std::size_t layer);
/// Two lines about a layer: what it is, and what it took. Empty for one that was not measured.
[[nodiscard]] QStringList layerDetails(const LiveStatistics& statistics, std::size_t layer);
/// How many frames were not shown for want of a matte, and why: a sentence, empty for none.
[[nodiscard]] QString matteLosses(const LiveStatistics& statistics);
/// What the hardware reaches at best.
[[nodiscard]] QString limitText(const LiveStatistics& statistics);

}  // namespace matte
