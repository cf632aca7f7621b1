// SPDX-License-Identifier: Apache-2.0
// The icons of resources/icons, drawn in the palette's text colour at any size. GUI thread.
#pragma once

#include <QIcon>
#include <QString>

namespace matte {

/// The icon called `name`. It follows the palette when that changes. Reads the few SVG elements that our icons are made
/// of by itself, so that the window's icons do not hang on an optional plug-in.
QIcon glyph(const QString& name);

}  // namespace matte
