// SPDX-License-Identifier: Apache-2.0
// What the pages that the canvas shows without a picture are made of. GUI thread.
#pragma once

#include <QString>

class QAction;
class QIcon;
class QLabel;
class QPushButton;

namespace matte {

/// Triggers `action`, whose tip and description it has, under a text of its own; `style` names it in the style sheet.
[[nodiscard]] QPushButton* pageButton(QAction* action, const QIcon& icon, const QString& text, const char* style);
/// A centred line of text.
[[nodiscard]] QLabel* pageLine(const QString& text, const char* style);

}  // namespace matte
