// SPDX-License-Identifier: Apache-2.0
// The drawing of the timing overlay: stages, layers, latency and the details of one layer. Without state. GUI thread.
#pragma once

#include <QList>
#include <QRect>

#include <deque>
#include <vector>

#include "gui/live/live_report.h"

class QPainter;

namespace matte {

/// Everything that is drawn.
struct TimingView {
    LiveReport report;
    int selected = -1;                                        ///< layer whose details are shown; -1 for none
    const std::vector<std::deque<float>>* history = nullptr;  ///< milliseconds of each layer, oldest first
};

/// The layout of an overlay with that size.
struct TimingLayout {
    explicit TimingLayout(QSize size);
    QRect summary, stages, layers, latency, details;
    /// The layer's bar, as tall as the chart, so that a thin one can be hit.
    [[nodiscard]] QRect column(int layer, int count) const;
    [[nodiscard]] int layerAt(QPoint at, int count) const;  ///< -1 for none
};

/// The height that the overlay needs.
[[nodiscard]] int timingHeight(bool details);

void paintTiming(QPainter& painter, QSize size, const TimingView& view);

}  // namespace matte
