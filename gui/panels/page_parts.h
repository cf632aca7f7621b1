// SPDX-License-Identifier: Apache-2.0
// Parts of the welcome page and the live page. GUI thread.
#pragma once

#include <QString>

class QAction;
class QIcon;
class QLabel;
class QPushButton;

namespace matte {

/// A button that triggers `action` and has its tool tip. `style` is its object name for the style sheet.
[[nodiscard]] QPushButton* pageButton(QAction* action, const QIcon& icon, const QString& text, const char* style);
/// A centred line of text.
[[nodiscard]] QLabel* pageLine(const QString& text, const char* style);

/// The program's icon, `side` logical pixels wide.
[[nodiscard]] QLabel* pageIcon(int side);

}  // namespace matte
