// SPDX-License-Identifier: Apache-2.0
#include "gui/panels/person_group.h"

#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

#include "gui/widgets/slider_row.h"

namespace matte {
namespace {

constexpr int kLeastScale = 25, kMostScale = 400;  // percent, as Stand allows

int percent(float value) {
    return int(std::lround(value * 100));
}

}  // namespace

PersonGroup::PersonGroup(Document& document, QWidget* parent)
    : QWidget(parent),
      lightWrap_(
          new SliderRow(tr("Light wrap"), tr("How much of the background's light falls on the edge"), {0, 100, 0})),
      scale_(new SliderRow(tr("Size, %"),
                           tr("How large the person is; Shift and the wheel over the picture"),
                           {kLeastScale, kMostScale, 100})),
      across_(new SliderRow(
          tr("Across"), tr("Move the person left or right; Shift and drag in the picture"), {-100, 100, 0})),
      down_(
          new SliderRow(tr("Down"), tr("Move the person up or down; Shift and drag in the picture"), {-100, 100, 0})) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(12);
    for (SliderRow* row : {lightWrap_, scale_, across_, down_}) {
        column->addWidget(row);
        connect(row, &SliderRow::gestureFinished, &document, &Document::finishGesture);
    }
    connect(lightWrap_, &SliderRow::valueChanged, this, [&document](int value) {
        document.edit(LookControl::lightWrap, [&](Look& look) { look.lightWrap = float(value) / 100; });
    });
    connect(scale_, &SliderRow::valueChanged, this, [&document](int value) {
        document.edit(LookControl::scale, [&](Look& look) { look.stand.scale = float(value) / 100; });
    });
    connect(across_, &SliderRow::valueChanged, this, [&document](int value) {
        document.edit(LookControl::position, [&](Look& look) { look.stand.x = float(value) / 100; });
    });
    connect(down_, &SliderRow::valueChanged, this, [&document](int value) {
        document.edit(LookControl::position, [&](Look& look) { look.stand.y = float(value) / 100; });
    });
    connect(&document, &Document::lookChanged, this, &PersonGroup::showLook);
    showLook(document.look());
}

void PersonGroup::showLook(const Look& look) {
    lightWrap_->showValue(percent(look.lightWrap));
    scale_->showValue(percent(look.stand.scale));
    across_->showValue(percent(look.stand.x));
    down_->showValue(percent(look.stand.y));
}

void moveStand(Stand& stand, double dx, double dy) {
    stand.x = std::clamp(stand.x + float(dx), -1.0F, 1.0F);
    stand.y = std::clamp(stand.y + float(dy), -1.0F, 1.0F);
}

void scaleStand(Stand& stand, double factor) {
    stand.scale = std::clamp(stand.scale * float(factor), float(kLeastScale) / 100, float(kMostScale) / 100);
}

}  // namespace matte
