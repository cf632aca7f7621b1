// SPDX-License-Identifier: Apache-2.0
#include "gui/panels/person_group.h"

#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

#include "gui/widgets/slider_row.h"

namespace matte {
namespace {

constexpr int kLeastScale = 25, kMostScale = 400;  // percent, as SubjectTransform allows

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
        document.edit(ParamControl::lightWrap, [&](CompositeParams& params) { params.lightWrap = float(value) / 100; });
    });
    connect(scale_, &SliderRow::valueChanged, this, [&document](int value) {
        document.edit(ParamControl::scale,
                      [&](CompositeParams& params) { params.transform.scale = float(value) / 100; });
    });
    connect(across_, &SliderRow::valueChanged, this, [&document](int value) {
        document.edit(ParamControl::position,
                      [&](CompositeParams& params) { params.transform.x = float(value) / 100; });
    });
    connect(down_, &SliderRow::valueChanged, this, [&document](int value) {
        document.edit(ParamControl::position,
                      [&](CompositeParams& params) { params.transform.y = float(value) / 100; });
    });
    connect(&document, &Document::paramsChanged, this, &PersonGroup::showParams);
    showParams(document.params());
}

void PersonGroup::showParams(const CompositeParams& params) {
    lightWrap_->showValue(percent(params.lightWrap));
    scale_->showValue(percent(params.transform.scale));
    across_->showValue(percent(params.transform.x));
    down_->showValue(percent(params.transform.y));
}

void moveSubject(SubjectTransform& transform, double dx, double dy) {
    transform.x = std::clamp(transform.x + float(dx), -1.0F, 1.0F);
    transform.y = std::clamp(transform.y + float(dy), -1.0F, 1.0F);
}

void scaleSubject(SubjectTransform& transform, double factor) {
    transform.scale = std::clamp(transform.scale * float(factor), float(kLeastScale) / 100, float(kMostScale) / 100);
}

}  // namespace matte
