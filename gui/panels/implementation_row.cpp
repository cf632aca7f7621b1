// SPDX-License-Identifier: Apache-2.0
#include "gui/panels/implementation_row.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>
#include <QVBoxLayout>

#include "gui/widgets/choice_menu.h"
#include "inference/core/thread.h"

namespace matte {
namespace {

using baselines::Implementation;

constexpr int kUpdatesASecond = 4, kFontPixels = 12, kRowHeight = 28, kNoteHeight = 18, kGap = 8;

QString text(std::string_view bytes) {
    return QString::fromUtf8(bytes.data(), qsizetype(bytes.size()));
}

QString milliseconds(double ms) {
    return QString::number(ms, 'f', ms < 10 ? 2 : 1) + " ms";
}

QString number(double value) {
    return QString::number(value, 'g', 2);
}

std::vector<std::string> whyNot() {
    std::vector<std::string> reasons;
    for (const Implementation& implementation : baselines::implementations())
        reasons.push_back(whyUnavailable(implementation));
    return reasons;
}

QString titleOf(const Implementation* implementation) {
    return implementation ? text(implementation->title) : ImplementationRow::tr("Product (default)");
}

QString factsOf(const baselines::ImplementationStatus& status) {
    if (status.chosen != status.running) {
        return status.chosen
                   ? ImplementationRow::tr("Getting %1 ready; the picture goes on.").arg(text(status.chosen->name))
                   : ImplementationRow::tr("Going back to the default.");
    }
    if (!status.running) return ImplementationRow::tr("the engine's own network");
    const QString name = text(status.running->name);
    if (status.ms == 0) return ImplementationRow::tr("%1 works on its first frame.").arg(name);
    QString facts = milliseconds(status.ms);
    if (!status.smaller.empty()) {
        facts = ImplementationRow::tr("at %1x%2: %3").arg(status.input.width).arg(status.input.height).arg(facts);
    }
    if (status.difference) {
        facts = ImplementationRow::tr("%1, default %2; alpha differs by %3 on average, %4 at most")
                    .arg(facts, milliseconds(status.productMs), number(status.difference->mean),
                         number(status.difference->maximum));
    }
    if (status.running->where == baselines::Where::gpu) facts += ImplementationRow::tr("; the rest on the processor");
    return facts;
}

}  // namespace

ImplementationRow::ImplementationRow(std::shared_ptr<baselines::ImplementationSwitch> implementations, QWidget* parent)
    : QWidget(parent),
      implementations_(std::move(implementations)),
      button_(new QToolButton(this)),
      menu_(new ChoiceMenu({}, this)),
      label_(new QLabel(this)),
      noteLabel_(new QLabel(this)) {
    setObjectName("implementationRow");
    QFont small = font();
    small.setPixelSize(kFontPixels);
    button_->setFont(small);
    label_->setFont(small);
    button_->setAccessibleName(tr("Implementation of the network"));
    button_->setToolTip(tr("How the network is computed: the product's own kernels, or a baseline"));
    button_->setPopupMode(QToolButton::InstantPopup);
    button_->setProperty("menuButton", true);
    button_->setMenu(menu_);
    noteLabel_->setFont(small);
    noteLabel_->setFixedHeight(kNoteHeight);
    noteLabel_->hide();
    for (QLabel* label : {label_, noteLabel_}) label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    menu_->setToolTipsVisible(true);
    connect(menu_, &QMenu::aboutToShow, this, &ImplementationRow::fill);
    connect(menu_, &ChoiceMenu::chosen, this, [this](const QVariant& name) {
        const std::string chosen = name.toString().toStdString();
        implementations_->choose(chosen.empty() ? nullptr : &baselines::networkImplementationNamed(chosen));
        refresh();
    });
    auto* rows = new QVBoxLayout(this);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(0);
    auto* row = new QHBoxLayout;
    row->setSpacing(kGap);
    row->addWidget(button_);
    row->addWidget(label_, 1);
    rows->addLayout(row, 1);
    rows->addWidget(noteLabel_);
    timer_.setInterval(1000 / kUpdatesASecond);
    connect(&timer_, &QTimer::timeout, this, &ImplementationRow::refresh);
    timer_.start();
}

void ImplementationRow::showEvent(QShowEvent*) {
    if (!reasons_.valid() && menu_->isEmpty()) {
        guarded([this] { reasons_ = std::async(std::launch::async, whyNot); },
                [this](const char*, ErrorCategory) {
                    Q_EMIT failed(
                        tr("The implementations can't be listed because too much is running: close other programs."));
                });
    }
    timer_.start();
    refresh();
}

QSize ImplementationRow::sizeHint() const {
    return {QWidget::sizeHint().width(), kRowHeight + (note_.isEmpty() ? 0 : kNoteHeight)};
}

/// What there is does not change while the program runs: once.
void ImplementationRow::fill() {
    if (menu_->isEmpty()) {
        const std::vector<std::string> reasons = reasons_.valid() ? reasons_.get() : whyNot();
        menu_->add(titleOf(nullptr), QString());
        menu_->addSeparator();
        for (std::size_t i = 0; i < reasons.size(); ++i) {
            const Implementation& implementation = baselines::implementations()[i];
            if (!implementation.network) continue;
            QAction* action = menu_->add(titleOf(&implementation), text(implementation.name));
            action->setEnabled(reasons[i].empty());
            action->setToolTip(text(reasons[i].empty() ? implementation.name : std::string_view(reasons[i])));
        }
    }
    const Implementation* chosen = implementations_->chosen();
    menu_->setChosen(chosen ? text(chosen->name) : QString());
}

void ImplementationRow::refresh() {
    const baselines::ImplementationStatus status = implementations_->status();
    const QString problem = QString::fromStdString(status.problem);
    if (problem != problem_) {
        problem_ = problem;
        if (!problem.isEmpty()) Q_EMIT failed(problem);
    }
    if (!isVisible()) {
        if (!status.chosen) timer_.stop();
        return;
    }
    button_->setText(tr("Implementation: %1 ▾").arg(status.chosen ? text(status.chosen->name) : titleOf(nullptr)));
    facts_ = factsOf(status);
    note_ = status.chosen == status.running ? QString::fromStdString(status.smaller) : QString();
    if (noteLabel_->isHidden() != note_.isEmpty()) {
        noteLabel_->setHidden(note_.isEmpty());
        updateGeometry();
    }
    elide();
}

void ImplementationRow::elide() {
    label_->setText(label_->fontMetrics().elidedText(facts_, Qt::ElideRight, label_->width()));
    label_->setToolTip(facts_);
    noteLabel_->setText(noteLabel_->fontMetrics().elidedText(note_, Qt::ElideRight, width()));
    noteLabel_->setToolTip(note_);
}

}  // namespace matte
