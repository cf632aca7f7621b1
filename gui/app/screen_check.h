// SPDX-License-Identifier: Apache-2.0
// Whether a window can be opened and drawn here: why not, and what to do, as a sentence; empty when it can. GUI thread.
#pragma once

#include <QString>
#include <QStringList>

namespace matte {

/// Before there is a QApplication, which aborts the program where nothing shows its windows. `arguments` are the
/// program's; who chooses another of Qt's platforms by them or by QT_QPA_PLATFORM is believed.
[[nodiscard]] QString displayProblem(const QStringList& arguments);

/// Once QApplication is there: whether OpenGL is, as the default surface format asks for it.
[[nodiscard]] QString openGlProblem();

}  // namespace matte
