// SPDX-License-Identifier: Apache-2.0
#include "gui/window/tool_row.h"

#include <QAction>
#include <QEvent>
#include <QFrame>
#include <QHBoxLayout>
#include <QMenu>
#include <QToolButton>

#include <algorithm>

#include "gui/app/icons.h"

namespace matte {
namespace {

constexpr int kSpacing = 3, kRuleWidth = 15;
constexpr QSize kIcon{18, 18};

}  // namespace

ToolRow::ToolRow(QWidget* parent)
    : QWidget(parent), row_(new QHBoxLayout(this)), more_(new QToolButton), overflow_(new QMenu(more_)) {
    row_->setContentsMargins(0, 0, 0, 0);
    row_->setSpacing(kSpacing);
    row_->setSizeConstraint(QLayout::SetNoConstraint);  // it is never narrower than what is left in it
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    more_->setObjectName("more");
    more_->setIcon(glyph("more"));
    more_->setIconSize(kIcon);
    more_->setMenu(overflow_);
    more_->setPopupMode(QToolButton::InstantPopup);
    more_->setProperty("menuButton", true);
    more_->setAccessibleName(tr("More tools"));
    more_->setToolTip(tr("Tools for which the window is too narrow"));
    more_->setFocusPolicy(Qt::TabFocus);
    more_->hide();
    row_->addWidget(more_);
    connect(overflow_, &QMenu::aboutToShow, this, [this] {
        overflow_->clear();
        for (const Tool& tool : tools_) {
            if (tool.out && tool.entry) overflow_->addAction(tool.entry);
        }
    });
}

void ToolRow::add(QToolButton* button, QAction* entry, Rank rank, std::optional<Mode> mode) {
    // The text of a button with a menu says what is chosen there, and its icon is but an arrow.
    const bool says = button->defaultAction() && button->defaultAction()->menu();
    const bool canLoseName = button->toolButtonStyle() == Qt::ToolButtonTextBesideIcon && !says;
    tools_.push_back({button, button, entry, rank, mode, canLoseName});
    button->setIconSize(kIcon);
    row_->insertWidget(row_->count() - 1, button);
}

void ToolRow::addRule() {
    auto* rule = new QFrame;
    rule->setObjectName("toolRule");
    rule->setFixedWidth(kRuleWidth);
    tools_.push_back({rule, nullptr, nullptr, Rank::rule, {}, false, kRuleWidth, kRuleWidth});
    row_->insertWidget(row_->count() - 1, rule);
}

void ToolRow::addStretch() {
    row_->insertStretch(row_->count() - 1);
}

void ToolRow::setMode(Mode mode) {
    mode_ = mode;
    arrange();
    updateGeometry();
}

bool ToolRow::isNamed(const Tool& tool, Names names) {
    if (!tool.canLoseName || names == Names::all) return true;
    return names == Names::primary && tool.button->objectName() == "primary";
}

/// Of what is in the row, or of `everything` that the mode has.
int ToolRow::widthWith(Names names, bool everything) const {
    int width = -kSpacing;
    bool anyOut = false;
    for (const Tool& tool : tools_) {
        if (!isInMode(tool)) continue;
        anyOut = anyOut || (tool.out && tool.entry);
        if (tool.out && !everything) continue;
        width += (isNamed(tool, names) ? tool.named : tool.unnamed) + kSpacing;
    }
    return anyOut && !everything ? width + kSpacing + moreWidth_ : width;
}

/// The last of those with the lowest rank; none when only those are left that stay.
ToolRow::Tool* ToolRow::nextToLeave() {
    Tool* next = nullptr;
    for (Tool& tool : tools_) {
        if (tool.out || !isInMode(tool) || tool.rank == Rank::always) continue;
        if (!next || tool.rank <= next->rank) next = &tool;
    }
    return next;
}

/// Both widths of each button; only when what they say has changed, for it asks for another layout.
void ToolRow::measure() {
    QString said;
    for (const Tool& tool : tools_) said += (tool.button ? tool.button->text() : QString()) + '\n';
    if (said == measured_) return;
    measured_ = said;
    for (Tool& tool : tools_) {
        if (!tool.button) continue;
        if (tool.canLoseName) tool.button->setToolButtonStyle(Qt::ToolButtonIconOnly);
        tool.unnamed = tool.button->sizeHint().width();
        if (tool.canLoseName) tool.button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
        tool.named = tool.button->sizeHint().width();
    }
    moreWidth_ = more_->sizeHint().width();
}

void ToolRow::arrange() {
    measure();
    for (Tool& tool : tools_) tool.out = false;
    Names names = widthWith(Names::all, false) > width() ? Names::primary : Names::all;
    while (widthWith(names, false) > width()) {
        Tool* next = nextToLeave();
        if (!next) {
            names = Names::none;
            break;
        }
        next->out = true;
    }
    bool anyOut = false;
    for (const Tool& tool : tools_) {
        if (tool.canLoseName) {
            tool.button->setToolButtonStyle(isNamed(tool, names) ? Qt::ToolButtonTextBesideIcon
                                                                 : Qt::ToolButtonIconOnly);
        }
        tool.widget->setVisible(isInMode(tool) && !tool.out);
        anyOut = anyOut || (tool.out && tool.entry);
    }
    more_->setVisible(anyOut);
}

QSize ToolRow::sizeHint() const {
    return {widthWith(Names::all, true), row_->sizeHint().height()};
}

QSize ToolRow::minimumSizeHint() const {
    int width = moreWidth_;
    for (const Tool& tool : tools_) {
        if (isInMode(tool) && tool.rank == Rank::always) width += tool.unnamed + kSpacing;
    }
    return {width, row_->sizeHint().height()};
}

bool ToolRow::event(QEvent* event) {
    switch (event->type()) {
        case QEvent::StyleChange:
        case QEvent::FontChange: measured_.clear(); break;
        case QEvent::LayoutRequest: arrange(); break;
        default: break;
    }
    return QWidget::event(event);
}

}  // namespace matte
