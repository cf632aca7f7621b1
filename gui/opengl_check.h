// SPDX-License-Identifier: Apache-2.0
// Whether the window can be drawn here. GUI thread, once QApplication is there.
#pragma once

#include <QString>

namespace matte {

/// Why not, and what to do, as a sentence; empty when OpenGL is there as the default surface format asks for it.
[[nodiscard]] QString openGlProblem();

}  // namespace matte
