// SPDX-License-Identifier: Apache-2.0
#include "gui/window/welcome.h"

#include <QAction>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

#include "gui/app/icons.h"
#include "gui/panels/page_parts.h"
#include "gui/window/actions.h"

namespace matte {
namespace {

constexpr int kMarkSide = 104, kLeastMargin = 16;

QLabel* wrappedLine(const QString& text) {
    QLabel* line = pageLine(text, "muted");
    line->setWordWrap(true);
    return line;
}

}  // namespace

Welcome::Welcome(const Actions& actions, QWidget* parent) : QWidget(parent) {
    setObjectName("welcome");
    setAttribute(Qt::WA_StyledBackground);
    setAccessibleName(tr("Welcome"));
    buttons_ = new QBoxLayout(QBoxLayout::LeftToRight);
    buttons_->setSpacing(10);
    for (QPushButton* button :
         {pageButton(actions[ActionId::open], glyph("open", QPalette::HighlightedText), tr("Open a Photo…"), "primary"),
          pageButton(actions[ActionId::openSample], glyph("person"), tr("Try the Sample"), ""),
          pageButton(actions[ActionId::liveMode], glyph("camera"), tr("Go Live"), "")}) {
        buttons_->addWidget(button);
    }
    QLabel* mark = pageIcon(kMarkSide);
    QLabel* promise = wrappedLine(tr("The person stays. What is behind them is up to you."));
    QLabel* hint = wrappedLine(tr("Ctrl+V pastes a picture. Nothing leaves this computer."));
    ornaments_ = {mark, hint, promise};
    auto* column = new QVBoxLayout(this);
    column->setSpacing(0);
    column->addStretch(5);
    column->addWidget(mark, 0, Qt::AlignHCenter);
    column->addSpacing(22);
    column->addWidget(pageLine(tr("Drop a photo here"), "welcomeTitle"));
    column->addSpacing(8);
    column->addWidget(promise);
    column->addSpacing(26);
    auto* middle = new QHBoxLayout;
    middle->addStretch();
    middle->addLayout(buttons_);
    middle->addStretch();
    column->addLayout(middle);
    column->addSpacing(22);
    column->addWidget(hint);
    column->addStretch(6);
}

/// The buttons beside each other, or one below the other where there is no room for that; in a window that is too low
/// what is missed least is left out.
void Welcome::resizeEvent(QResizeEvent*) {
    int together = -buttons_->spacing();
    for (int i = 0; i < buttons_->count(); ++i)
        together += buttons_->itemAt(i)->sizeHint().width() + buttons_->spacing();
    buttons_->setDirection(together > width() - 2 * kLeastMargin ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
    for (QWidget* part : ornaments_) part->show();
    for (QWidget* part : ornaments_) {
        layout()->invalidate();
        if (layout()->totalHeightForWidth(width()) <= height()) break;
        part->hide();
    }
    layout()->activate();
}

void Welcome::setDropActive(bool active) {
    dropActive_ = active;
    update();
}

QRectF Welcome::dropArea() const {
    const double side = std::min({double(width()) - 48, double(height()) - 48, 660.0});
    QRectF area(0, 0, std::max(side, 40.0), std::max(std::min(side, 430.0), 40.0));
    area.moveCenter(QRectF(rect()).center());
    return area;
}

void Welcome::paintEvent(QPaintEvent* event) {
    QWidget::paintEvent(event);
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QColor accent = palette().color(QPalette::Highlight);
    QColor edge = dropActive_ ? accent : palette().color(QPalette::Mid);
    edge.setAlphaF(dropActive_ ? 1.0F : 0.45F);
    QColor fill = dropActive_ ? accent : palette().color(QPalette::WindowText);
    fill.setAlphaF(dropActive_ ? 0.10F : 0.02F);
    QPen pen(edge, 1.5, Qt::CustomDashLine, Qt::RoundCap);
    pen.setDashPattern({4, 4});
    painter.setPen(pen);
    painter.setBrush(fill);
    painter.drawRoundedRect(dropArea(), 18, 18);
}

}  // namespace matte
