// SPDX-License-Identifier: Apache-2.0
// The mark on a small picture that says that it moves. GUI thread.
#pragma once

#include <QPainter>
#include <QPolygonF>

namespace matte {

/// A white triangle on a dark disc of `radius`.
inline void drawPlayMark(QPainter& painter, QPointF center, double radius) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(QColor(0, 0, 0, 150));
    painter.drawEllipse(center, radius, radius);
    painter.setBrush(Qt::white);
    const double side = radius / 2;
    painter.drawPolygon(QPolygonF(
        {center + QPointF(-0.7 * side, -side), center + QPointF(-0.7 * side, side), center + QPointF(1.1 * side, 0)}));
    painter.restore();
}

}  // namespace matte
