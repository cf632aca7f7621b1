// SPDX-License-Identifier: Apache-2.0
#include "gui/window/shortcuts_dialog.h"

#include <QDialogButtonBox>
#include <QGridLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "gui/window/actions.h"

namespace matte {
namespace {

using Row = std::pair<QString, QString>;  // what it does, keys

QList<Row> actionRows(const Actions& actions) {
    QList<Row> rows;
    for (const QAction* action : actions.all()) {
        const QString keys = QKeySequence::listToString(action->shortcuts(), QKeySequence::NativeText);
        if (!keys.isEmpty()) rows.append({action->whatsThis(), QString(keys).replace("; ", ",  ")});
    }
    return rows;
}

QList<Row> gestureRows() {
    return {
        {ShortcutsDialog::tr("See the original, while held"), ShortcutsDialog::tr("O")},
        {ShortcutsDialog::tr("Zoom to the pointer"), ShortcutsDialog::tr("Wheel, pinch")},
        {ShortcutsDialog::tr("Move the picture"), ShortcutsDialog::tr("Drag, Space + drag")},
        {ShortcutsDialog::tr("Fit, or actual size at the pointer"), ShortcutsDialog::tr("Double click")},
        {ShortcutsDialog::tr("Compare before and after"), ShortcutsDialog::tr("Drag the line")},
        {ShortcutsDialog::tr("Start or stop the camera"), ShortcutsDialog::tr("Space")},
        {ShortcutsDialog::tr("Take a profile over"), ShortcutsDialog::tr("Ctrl+1 to Ctrl+9")},
        {ShortcutsDialog::tr("Move the person"), ShortcutsDialog::tr("Shift + drag")},
        {ShortcutsDialog::tr("Make the person larger or smaller"), ShortcutsDialog::tr("Shift + wheel")},
        {ShortcutsDialog::tr("Set a slider back"), ShortcutsDialog::tr("Double click on it")},
    };
}

}  // namespace

ShortcutsDialog::ShortcutsDialog(const Actions& actions, QWidget* parent) : QDialog(parent) {
    setWindowTitle(tr("Keyboard and Mouse"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(24, 20, 24, 18);
    column->setSpacing(18);
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(28);
    grid->setVerticalSpacing(7);
    const QList<Row> rows = actionRows(actions) + gestureRows();
    const auto perColumn = (rows.size() + 1) / 2;
    for (qsizetype i = 0; i < rows.size(); ++i) {
        auto* keys = new QLabel(rows[i].second);
        keys->setObjectName("muted");
        const int line = int(i % perColumn), side = int(i / perColumn) * 3;
        grid->addWidget(new QLabel(rows[i].first), line, side);
        grid->addWidget(keys, line, side + 1, Qt::AlignRight);
    }
    grid->setColumnMinimumWidth(2, 24);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    column->addLayout(grid);
    column->addWidget(buttons);
}

}  // namespace matte
