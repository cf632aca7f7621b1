// SPDX-License-Identifier: Apache-2.0
#include "gui/live_page.h"

#include <QAction>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "gui/icons.h"
#include "gui/page_parts.h"

namespace matte {
namespace {

constexpr int kMarkSide = 88, kFactIcon = 18, kFactWidth = 440;

}  // namespace

LivePage::LivePage(QAction* start, QAction* openVideo, QWidget* parent)
    : QWidget(parent),
      title_(pageLine({}, "welcomeTitle")),
      source_(pageLine({}, "muted")),
      start_(pageButton(start, glyph("start", QPalette::HighlightedText), tr("Start"), "primary")),
      video_(pageButton(openVideo, glyph("video"), tr("Use a Video…"), "")),
      rows_(new QGridLayout) {
    setObjectName("welcome");
    setAttribute(Qt::WA_StyledBackground);
    setAccessibleName(tr("Live"));
    auto* mark = new QLabel;
    mark->setPixmap(QIcon(":/icons/app-128.png").pixmap(QSize(kMarkSide, kMarkSide), devicePixelRatioF()));
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(10);
    buttons->addStretch();
    buttons->addWidget(start_);
    buttons->addWidget(video_);
    buttons->addStretch();
    rows_->setContentsMargins(0, 0, 0, 0);
    rows_->setHorizontalSpacing(12);
    rows_->setVerticalSpacing(10);
    auto* facts = new QWidget;
    facts->setFixedWidth(kFactWidth);
    facts->setLayout(rows_);
    auto* column = new QVBoxLayout(this);
    column->setSpacing(0);
    column->addStretch(5);
    column->addWidget(mark, 0, Qt::AlignHCenter);
    column->addSpacing(18);
    column->addWidget(title_);
    column->addSpacing(6);
    column->addWidget(source_);
    column->addSpacing(20);
    column->addLayout(buttons);
    column->addSpacing(22);
    column->addWidget(facts, 0, Qt::AlignHCenter);
    column->addStretch(6);
    showTitle();
}

void LivePage::showTitle() {
    title_->setText(opening_ ? tr("Opening %1…").arg(name_) : tr("See yourself live"));
    source_->setText(opening_ ? tr("The background is shown until the first picture is ready.")
                              : tr("%1. Space starts and stops.").arg(name_));
}

void LivePage::showSource(const QString& name) {
    name_ = name;
    showTitle();
}

void LivePage::setOpening(bool opening) {
    opening_ = opening;
    start_->setVisible(!opening);
    video_->setVisible(!opening);
    showTitle();
}

void LivePage::showFacts(const QList<Fact>& facts) {
    if (facts == facts_) return;
    facts_ = facts;
    while (QLayoutItem* item = rows_->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    for (int row = 0; row < facts.size(); ++row) {
        auto* icon = new QLabel;
        icon->setPixmap(
            glyph(facts[row].good ? "check" : "warning").pixmap(QSize(kFactIcon, kFactIcon), devicePixelRatioF()));
        icon->setAccessibleName(facts[row].good ? tr("Found") : tr("Missing"));
        auto* text = new QLabel(facts[row].text);
        text->setWordWrap(true);
        text->setTextFormat(Qt::PlainText);
        text->setFixedWidth(kFactWidth - kFactIcon - 12);
        text->setMinimumHeight(text->heightForWidth(text->width()));  // a wrapped label asks for too little
        if (facts[row].good) text->setObjectName("muted");
        rows_->addWidget(icon, row, 0, Qt::AlignTop);
        rows_->addWidget(text, row, 1);
    }
    rows_->setColumnStretch(1, 1);
}

QString LivePage::text() const {
    QStringList lines{title_->text(), source_->text()};
    for (const Fact& fact : facts_) lines.append(fact.text);
    return lines.join('\n');
}

}  // namespace matte
