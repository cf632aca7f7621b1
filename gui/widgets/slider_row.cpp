// SPDX-License-Identifier: Apache-2.0
#include "gui/widgets/slider_row.h"

#include <QEvent>
#include <QGridLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QSlider>
#include <QSpinBox>

#include <algorithm>
#include <chrono>

namespace matte {
namespace {

constexpr std::chrono::milliseconds kGesturePause{700};

}  // namespace

SliderRow::SliderRow(const QString& name, const QString& tip, Range range, QWidget* parent)
    : QWidget(parent), range_(range), slider_(new QSlider(Qt::Horizontal)), box_(new QSpinBox) {
    auto* label = new QLabel(name);
    label->setToolTip(tip);
    slider_->setRange(range.least, range.most);
    slider_->setPageStep(10);
    slider_->setAccessibleName(name);
    slider_->setAccessibleDescription(tip);
    slider_->setToolTip(tip + "\n" + tr("A double click sets it back to %1.").arg(range.standard));
    box_->setRange(range.least, range.most);
    box_->setButtonSymbols(QSpinBox::NoButtons);
    box_->setAlignment(Qt::AlignRight);
    box_->setAccessibleName(tr("%1, value").arg(name));
    box_->setFixedWidth(std::max(46, fontMetrics().horizontalAdvance("-100") + 14));
    showValue(range.standard);
    for (QWidget* part : {static_cast<QWidget*>(slider_), static_cast<QWidget*>(box_)}) {
        part->setFocusPolicy(Qt::StrongFocus);
        part->installEventFilter(this);
    }
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setVerticalSpacing(0);
    grid->addWidget(label, 0, 0);
    grid->addWidget(box_, 0, 1);
    grid->addWidget(slider_, 1, 0, 1, 2);
    grid->setColumnStretch(0, 1);
    settled_.setSingleShot(true);
    connect(slider_, &QSlider::valueChanged, this, &SliderRow::take);
    connect(box_, &QSpinBox::valueChanged, this, &SliderRow::take);
    connect(slider_, &QSlider::sliderReleased, this, &SliderRow::gestureFinished);
    connect(&settled_, &QTimer::timeout, this, &SliderRow::gestureFinished);
}

int SliderRow::value() const {
    return slider_->value();
}

void SliderRow::showValue(int value) {
    const QSignalBlocker quietSlider(slider_), quietBox(box_);
    slider_->setValue(value);
    box_->setValue(value);
}

void SliderRow::take(int value) {
    showValue(value);
    if (!slider_->isSliderDown()) settled_.start(kGesturePause);
    Q_EMIT valueChanged(value);
}

bool SliderRow::eventFilter(QObject* object, QEvent* event) {
    if (event->type() == QEvent::MouseButtonDblClick && object == slider_) {
        Q_EMIT gestureFinished();
        if (value() != range_.standard) take(range_.standard);
        Q_EMIT gestureFinished();
        return true;
    }
    // Scrolling the panel must not change what happens to lie under the pointer.
    if (event->type() == QEvent::Wheel && !static_cast<QWidget*>(object)->hasFocus()) {
        event->ignore();
        return true;
    }
    return QWidget::eventFilter(object, event);
}

}  // namespace matte
