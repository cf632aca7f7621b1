// SPDX-License-Identifier: Apache-2.0
// ShortcutsDialog: what the keys and the mouse do, made from the table of actions. GUI thread.
#pragma once

#include <QDialog>

namespace matte {

class Actions;

class ShortcutsDialog : public QDialog {
    Q_OBJECT

public:
    ShortcutsDialog(const Actions& actions, QWidget* parent);
};

}  // namespace matte
