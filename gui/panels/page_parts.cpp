// SPDX-License-Identifier: Apache-2.0
#include "gui/panels/page_parts.h"

#include <QAction>
#include <QLabel>
#include <QPushButton>

namespace matte {

QPushButton* pageButton(QAction* action, const QIcon& icon, const QString& text, const char* style) {
    auto* button = new QPushButton(icon, " " + text);
    button->setObjectName(style);
    button->setToolTip(action->toolTip());
    button->setAccessibleName(action->whatsThis());
    QObject::connect(button, &QPushButton::clicked, action, &QAction::trigger);
    return button;
}

QLabel* pageLine(const QString& text, const char* style) {
    auto* label = new QLabel(text);
    label->setObjectName(style);
    label->setAlignment(Qt::AlignCenter);
    return label;
}

QLabel* pageIcon(int side) {
    auto* icon = new QLabel;
    icon->setPixmap(QIcon(":/icons/app-128.png").pixmap(QSize(side, side), icon->devicePixelRatioF()));
    return icon;
}

}  // namespace matte
