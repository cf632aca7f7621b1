// SPDX-License-Identifier: Apache-2.0
#include "gui/live/camera_light.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace matte {
namespace {

constexpr int kHeight = 26, kDot = 9, kSide = 10, kGap = 8, kMostWidth = 320;
constexpr QRgb kLit = qRgb(255, 70, 70), kNotACamera = qRgb(116, 143, 252);
constexpr QRgb kBackground = qRgba(20, 21, 24, 200);

}  // namespace

CameraLight::CameraLight(QWidget* parent) : QWidget(parent) {
    setAttribute(Qt::WA_TransparentForMouseEvents);
    hide();
}

void CameraLight::showCapturing(const QString& name, bool camera) {
    text_ = name.isEmpty() ? QString() : camera ? tr("Camera on: %1").arg(name) : name;
    camera_ = camera;
    setAccessibleName(text_);
    setVisible(!text_.isEmpty());
    adjustSize();
    update();
}

QSize CameraLight::sizeHint() const {
    // Rounded up: in a pixel's fraction too little the text would be elided.
    const int text = int(std::ceil(QFontMetricsF(font()).horizontalAdvance(text_))) + 1;
    return {std::min(text, kMostWidth) + 2 * kSide + kDot + kGap, kHeight};
}

void CameraLight::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(QColor::fromRgba(kBackground));
    painter.drawRoundedRect(rect(), kHeight / 2.0, kHeight / 2.0);
    painter.setBrush(QColor::fromRgb(camera_ ? kLit : kNotACamera));
    painter.drawEllipse(QRectF(kSide, (height() - kDot) / 2.0, kDot, kDot));
    painter.setPen(Qt::white);
    const QRect text = rect().adjusted(kSide + kDot + kGap, 0, -kSide, 0);
    painter.drawText(text, Qt::AlignVCenter, fontMetrics().elidedText(text_, Qt::ElideMiddle, text.width()));
}

}  // namespace matte
