// SPDX-License-Identifier: Apache-2.0
// The icons of resources/icons, drawn in the palette's text colour at any size. GUI thread.
#pragma once

#include <QIcon>
#include <QPalette>
#include <QString>

class QPainter;

namespace matte {

/// The icon called `name`, in the colour that the palette has for `role`. It follows the palette when that changes.
/// Reads the few SVG elements that our icons are made of by itself, so that the window's icons do not hang on an
/// optional plug-in.
QIcon glyph(const QString& name, QPalette::ColorRole role = QPalette::ButtonText);
/// The mark of a small picture that moves: a white triangle on a dark disc of `radius`.
void drawPlayMark(QPainter& painter, QPointF center, double radius);

}  // namespace matte
