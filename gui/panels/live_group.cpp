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
      steadiness_(new SliderRow(tr("Steadiness"),
                                tr("How calm the edge is; a moving hand leaves no trail"),
                                {0, 100, int(std::lround(Look{}.steadiness * 100))})),
      specks_(new Toggle(tr("Remove specks"))),
      nearest_(new Toggle(tr("Nearest person only"))),
      detail_(new Toggle(tr("Fine detail"))) {
    mirror_->setToolTip(tr("As in a mirror; writing in the background stays readable (M)"));
    specks_->setToolTip(tr("Take out what is much smaller than a person (K)"));
    nearest_->setToolTip(tr("Of several people keep the one who takes the most room (N)"));
    offerDetail(true);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(12);
    for (QWidget* part :
         {static_cast<QWidget*>(mirror_), static_cast<QWidget*>(steadiness_), static_cast<QWidget*>(specks_),
          static_cast<QWidget*>(nearest_), static_cast<QWidget*>(detail_)}) {
        column->addWidget(part);
    }
    connect(mirror_, &Toggle::toggled, this, [&document](bool on) {
        document.step(LookControl::mirror, [&](Look& look) { look.stand.mirrored = on; });
    });
    connect(steadiness_, &SliderRow::valueChanged, this, [&document](int value) {
        document.edit(LookControl::steadiness, [&](Look& look) { look.steadiness = float(value) / 100; });
    });
    connect(steadiness_, &SliderRow::gestureFinished, &document, &Document::finishGesture);
    connect(specks_, &Toggle::toggled, this,
            [&document](bool on) { document.step(LookControl::specks, [&](Look& look) { look.removeSpecks = on; }); });
    connect(nearest_, &Toggle::toggled, this,
            [&document](bool on) { document.step(LookControl::nearest, [&](Look& look) { look.nearestOnly = on; }); });
    connect(detail_, &Toggle::toggled, this,
            [&document](bool on) { document.step(LookControl::detail, [&](Look& look) { look.fineDetail = on; }); });
    connect(&document, &Document::lookChanged, this, &LiveGroup::showLook);
    showLook(document.look());
}

void LiveGroup::offerDetail(bool offered) {
    detail_->setEnabled(offered);
    detail_->setToolTip(offered ? tr("Fingers, hair and people farther away, for about four times the work (H)")
                                : tr("Not with this engine and model, whose live pictures have one size"));
}

void LiveGroup::showLook(const Look& look) {
    const QSignalBlocker quiet[] = {QSignalBlocker(mirror_), QSignalBlocker(specks_), QSignalBlocker(nearest_),
                                    QSignalBlocker(detail_)};
    mirror_->setChecked(look.stand.mirrored);
    specks_->setChecked(look.removeSpecks);
    nearest_->setChecked(look.nearestOnly);
    detail_->setChecked(look.fineDetail);
    steadiness_->showValue(int(std::lround(look.steadiness * 100)));
}

}  // namespace matte
