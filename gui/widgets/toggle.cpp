// SPDX-License-Identifier: Apache-2.0
#include "gui/widgets/toggle.h"

#include <QPainter>

#include <algorithm>

namespace matte {
namespace {

constexpr double kTrackWidth = 34, kTrackHeight = 18, kInset = 3;
constexpr int kGap = 10;

}  // namespace

Toggle::Toggle(const QString& text, QWidget* parent) : QCheckBox(text, parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setCursor(Qt::PointingHandCursor);
}

QSize Toggle::sizeHint() const {
    return {fontMetrics().horizontalAdvance(text()) + kGap + int(kTrackWidth) + 2,
            std::max(fontMetrics().height(), int(kTrackHeight)) + 6};
}

void Toggle::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QRectF track(width() - kTrackWidth - 1, (height() - kTrackHeight) / 2.0, kTrackWidth, kTrackHeight);
    painter.setPen(palette().color(QPalette::WindowText));
    painter.drawText(rect(), Qt::AlignVCenter | Qt::AlignLeft | Qt::TextShowMnemonic, text());
    QColor off = palette().color(QPalette::Mid);
    off.setAlphaF(0.6F);
    const bool focused = hasFocus();
    painter.setPen(focused ? QPen(palette().color(QPalette::Link), 1.5) : QPen(Qt::NoPen));
    painter.setBrush(isChecked() ? palette().color(QPalette::Highlight) : off);
    painter.drawRoundedRect(track, kTrackHeight / 2, kTrackHeight / 2);
    const double knob = kTrackHeight - 2 * kInset;
    const double x = isChecked() ? track.right() - kInset - knob : track.left() + kInset;
    painter.setPen(Qt::NoPen);
    painter.setBrush(Qt::white);
    painter.drawEllipse(QRectF(x, track.top() + kInset, knob, knob));
}

}  // namespace matte
