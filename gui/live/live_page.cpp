// SPDX-License-Identifier: Apache-2.0
#include "gui/live/live_page.h"

#include <QAction>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

#include "gui/app/icons.h"
#include "gui/panels/page_parts.h"

namespace matte {
namespace {

constexpr int kMarkSide = 88, kFactIcon = 18, kFactGap = 12, kFactWidth = 440;

}  // namespace

LivePage::LivePage(QAction* start, QAction* openVideo, QWidget* parent)
    : QWidget(parent),
      mark_(pageIcon(kMarkSide)),
      title_(pageLine({}, "welcomeTitle")),
      source_(pageLine({}, "muted")),
      start_(pageButton(start, glyph("start", QPalette::HighlightedText), tr("Start"), "primary")),
      video_(pageButton(openVideo, glyph("video"), tr("Use a Video…"), "")),
      table_(new QWidget),
      rows_(new QGridLayout(table_)) {
    setObjectName("welcome");
    setAttribute(Qt::WA_StyledBackground);
    setAccessibleName(tr("Live"));
    source_->setWordWrap(true);
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(10);
    buttons->addStretch();
    buttons->addWidget(start_);
    buttons->addWidget(video_);
    buttons->addStretch();
    rows_->setHorizontalSpacing(kFactGap);
    rows_->setVerticalSpacing(10);
    // Margins rather than spacings: a part that is hidden takes its own along.
    mark_->setContentsMargins(0, 0, 0, 18);
    title_->setContentsMargins(0, 0, 0, 6);
    source_->setContentsMargins(0, 0, 0, 20);
    rows_->setContentsMargins(0, 22, 0, 0);
    auto* column = new QVBoxLayout(this);
    column->setSpacing(0);
    column->addStretch(5);
    column->addWidget(mark_, 0, Qt::AlignHCenter);
    column->addWidget(title_);
    column->addWidget(source_);
    column->addLayout(buttons);
    column->addWidget(table_, 0, Qt::AlignHCenter);
    column->addStretch(6);
    arrange();
}

QString LivePage::title(const QString& name) const {
    if (stage_ == LiveStage::waiting) return tr("Waiting for %1…").arg(name);
    return isOn() ? tr("Opening %1…").arg(name) : tr("See yourself live");
}

QString LivePage::advice(const QString& name) const {
    if (stage_ == LiveStage::waiting) return tr("It is looked for until you stop.");
    return isOn() ? tr("The background is shown until the first picture is ready.")
                  : tr("%1. Space starts and stops.").arg(name);
}

void LivePage::showStage(LiveStage stage, const QString& name) {
    if (stage == stage_ && name == name_) return;
    stage_ = stage;
    name_ = name;
    arrange();
}

void LivePage::keepClear(int below) {
    if (contentsMargins().bottom() == below) return;
    setContentsMargins(0, 0, 0, below);
    arrange();
}

void LivePage::arrange() {
    layTexts();
    start_->setVisible(!isOn());
    video_->setVisible(!isOn());
    for (QWidget* part : QList<QWidget*>{table_, mark_, source_, title_}) part->show();
    leaveOut();
    layout()->activate();  // at once: what is shown now is never laid out for what was there before
}

/// In a window that is too small, what is missed least goes first.
void LivePage::leaveOut() {
    const auto least = [this] {
        layout()->invalidate();
        return layout()->totalMinimumSize().expandedTo({0, layout()->totalHeightForWidth(width())});
    };
    if (least().width() > width()) video_->hide();  // everything else can be made narrower
    QList<QWidget*> parts{table_, mark_, video_, source_, title_, start_};
    while (!parts.isEmpty() && least().height() > height()) parts.takeFirst()->hide();
}

/// As wide as the page lets them be: a name that is too long loses its middle.
void LivePage::layTexts() {
    const QMargins margins = layout()->contentsMargins();
    const int room = std::max(1, width() - margins.left() - margins.right());
    title_->ensurePolished();
    title_->setText(title_->fontMetrics().elidedText(title(name_), Qt::ElideMiddle, room));
    source_->setText(advice(source_->fontMetrics().elidedText(name_, Qt::ElideMiddle, room)));
    const int table = std::min(kFactWidth, room);
    table_->setFixedWidth(table);
    for (QLabel* line : lines_) {
        line->setFixedWidth(std::max(1, table - kFactIcon - kFactGap));
        line->setMinimumHeight(line->heightForWidth(line->width()));  // a wrapped label asks for too little
    }
}

void LivePage::showFacts(const QList<Fact>& facts) {
    if (facts == facts_) return;
    facts_ = facts;
    while (QLayoutItem* item = rows_->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    lines_.clear();
    for (int row = 0; row < facts.size(); ++row) {
        auto* icon = new QLabel;
        icon->setPixmap(
            glyph(facts[row].good ? "check" : "warning").pixmap(QSize(kFactIcon, kFactIcon), devicePixelRatioF()));
        icon->setAccessibleName(facts[row].good ? tr("Found") : tr("Missing"));
        auto* text = new QLabel(facts[row].text);
        text->setWordWrap(true);
        text->setTextFormat(Qt::PlainText);
        if (facts[row].good) text->setObjectName("muted");
        rows_->addWidget(icon, row, 0, Qt::AlignTop);
        rows_->addWidget(text, row, 1);
        lines_.append(text);
    }
    rows_->setColumnStretch(1, 1);
    arrange();
}

QString LivePage::text() const {
    QStringList lines{title(name_), advice(name_)};
    for (const Fact& fact : facts_) lines.append(fact.text);
    return lines.join('\n');
}

}  // namespace matte
