// SPDX-License-Identifier: Apache-2.0
#include "gui/panels/live_group.h"

#include <QSignalBlocker>
#include <QVBoxLayout>

#include <cmath>

#include "gui/widgets/slider_row.h"
#include "gui/widgets/toggle.h"

namespace matte {

LiveGroup::LiveGroup(Document& document, QWidget* parent)
    : QWidget(parent),
      mirror_(new Toggle(tr("Mirror"))),
      temporalSmoothing_(new SliderRow(tr("Temporal smoothing"),
                                       tr("How calm the edge is; a moving hand leaves no trail"),
                                       {0, 100, int(std::lround(CompositeParams{}.temporalSmoothing * 100))})),
      smallRegions_(new Toggle(tr("Remove small regions"))),
      nearest_(new Toggle(tr("Nearest person only"))),
      detail_(new Toggle(tr("Fine detail"))) {
    mirror_->setToolTip(tr("As in a mirror; writing in the background stays readable (M)"));
    smallRegions_->setToolTip(tr("Take out what is much smaller than a person (K)"));
    nearest_->setToolTip(tr("Of several people keep the one who takes the most room (N)"));
    offerDetail(true);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(12);
    for (QWidget* part :
         {static_cast<QWidget*>(mirror_), static_cast<QWidget*>(temporalSmoothing_),
          static_cast<QWidget*>(smallRegions_), static_cast<QWidget*>(nearest_), static_cast<QWidget*>(detail_)}) {
        column->addWidget(part);
    }
    connect(mirror_, &Toggle::toggled, this, [&document](bool on) {
        document.step(ParamControl::mirror, [&](CompositeParams& params) { params.transform.mirrored = on; });
    });
    connect(temporalSmoothing_, &SliderRow::valueChanged, this, [&document](int value) {
        document.edit(ParamControl::temporalSmoothing,
                      [&](CompositeParams& params) { params.temporalSmoothing = float(value) / 100; });
    });
    connect(temporalSmoothing_, &SliderRow::gestureFinished, &document, &Document::finishGesture);
    connect(smallRegions_, &Toggle::toggled, this, [&document](bool on) {
        document.step(ParamControl::smallRegions, [&](CompositeParams& params) { params.removeSmallRegions = on; });
    });
    connect(nearest_, &Toggle::toggled, this, [&document](bool on) {
        document.step(ParamControl::nearest, [&](CompositeParams& params) { params.nearestOnly = on; });
    });
    connect(detail_, &Toggle::toggled, this, [&document](bool on) {
        document.step(ParamControl::detail, [&](CompositeParams& params) { params.fineDetail = on; });
    });
    connect(&document, &Document::paramsChanged, this, &LiveGroup::showParams);
    showParams(document.params());
}

void LiveGroup::offerDetail(bool offered) {
    detail_->setEnabled(offered);
    detail_->setToolTip(offered ? tr("Fingers, hair and people farther away, for about four times the work (H)")
                                : tr("Not with this engine and model, whose live pictures have one size"));
}

void LiveGroup::showParams(const CompositeParams& params) {
    const QSignalBlocker quiet[] = {QSignalBlocker(mirror_), QSignalBlocker(smallRegions_), QSignalBlocker(nearest_),
                                    QSignalBlocker(detail_)};
    mirror_->setChecked(params.transform.mirrored);
    smallRegions_->setChecked(params.removeSmallRegions);
    nearest_->setChecked(params.nearestOnly);
    detail_->setChecked(params.fineDetail);
    temporalSmoothing_->showValue(int(std::lround(params.temporalSmoothing * 100)));
}

}  // namespace matte
