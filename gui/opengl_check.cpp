// SPDX-License-Identifier: Apache-2.0
#include "gui/opengl_check.h"

#include <QCoreApplication>
#include <QOffscreenSurface>
#include <QOpenGLContext>

namespace matte {

QString openGlProblem() {
    const QSurfaceFormat wanted = QSurfaceFormat::defaultFormat();
    QOpenGLContext context;
    QOffscreenSurface surface;
    surface.create();
    const bool works = context.create() && context.makeCurrent(&surface);
    if (works && context.format().version() >= wanted.version()) return {};
    return QCoreApplication::translate("matte::OpenGl",
                                       "Matte draws with OpenGL %1.%2, which this desktop does not have: install the "
                                       "graphics card's driver, or Mesa's libgl1-mesa-dri, which needs no card.")
        .arg(wanted.majorVersion())
        .arg(wanted.minorVersion());
}

}  // namespace matte
