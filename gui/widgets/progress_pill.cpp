// SPDX-License-Identifier: Apache-2.0
#include "gui/widgets/progress_pill.h"

#include <QGridLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>

#include <chrono>

namespace matte {
namespace {

constexpr std::chrono::milliseconds kPatience{120};

}  // namespace

ProgressPill::ProgressPill(QWidget* parent) : QFrame(parent), label_(new QLabel), bar_(new QProgressBar) {
    setObjectName("pill");
    setFixedWidth(340);
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(16, 10, 8, 12);
    grid->setVerticalSpacing(6);
    bar_->setRange(0, 0);
    bar_->setTextVisible(false);
    bar_->setAccessibleName(tr("Working"));
    auto* cancel = new QPushButton(tr("Cancel"));
    cancel->setObjectName("flat");
    cancel->setToolTip(tr("Cancel (Esc)"));
    cancel->setFocusPolicy(Qt::TabFocus);
    grid->addWidget(label_, 0, 0);
    grid->addWidget(bar_, 1, 0);
    grid->addWidget(cancel, 0, 1, 2, 1, Qt::AlignVCenter);
    grid->setColumnStretch(0, 1);
    connect(cancel, &QPushButton::clicked, this, &ProgressPill::cancelRequested);
    showLater_.setSingleShot(true);
    connect(&showLater_, &QTimer::timeout, this, [this] {
        show();
        raise();
        Q_EMIT resized();
    });
    hide();
}

void ProgressPill::setStage(const QString& stage, double share) {
    busy_ = !stage.isEmpty();
    if (!busy_) {
        showLater_.stop();
        hide();
        return;
    }
    constexpr int kSteps = 1000;
    bar_->setRange(0, share < 0 ? 0 : kSteps);
    if (share >= 0) bar_->setValue(int(share * kSteps));
    label_->setText(fontMetrics().elidedText(stage + "…", Qt::ElideMiddle, 220));
    setAccessibleName(stage);
    if (!isVisible() && !showLater_.isActive()) showLater_.start(kPatience);
}

}  // namespace matte
