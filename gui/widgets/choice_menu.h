// SPDX-License-Identifier: Apache-2.0
// ChoiceMenu: a menu with one checked entry. GUI thread.
#pragma once

#include <QActionGroup>
#include <QMenu>
#include <QVariant>

namespace matte {

class ChoiceMenu : public QMenu {
    Q_OBJECT

public:
    explicit ChoiceMenu(const QString& title, QWidget* parent = nullptr)
        : QMenu(title, parent), group_(new QActionGroup(this)) {
        connect(group_, &QActionGroup::triggered, this, [this](QAction* action) { Q_EMIT chosen(action->data()); });
    }
    QAction* add(const QString& text, const QVariant& value) {
        QAction* action = group_->addAction(addAction(text));
        action->setCheckable(true);
        action->setData(value);
        return action;
    }
    /// Checks the entry with this value. Emits nothing.
    void setChosen(const QVariant& value) {
        for (QAction* action : group_->actions()) action->setChecked(action->data() == value);
    }

Q_SIGNALS:
    /// The user chose the entry with this value.
    void chosen(const QVariant& value);

private:
    QActionGroup* group_;
};

}  // namespace matte
