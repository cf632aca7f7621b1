// SPDX-License-Identifier: Apache-2.0
#include "gui/app/screen_check.h"

#include <QCoreApplication>
#include <QFile>
#include <QOffscreenSurface>
#include <QOpenGLContext>

#include <algorithm>

namespace matte {

QString displayProblem(const QStringList& arguments) {
#ifdef Q_OS_LINUX
    for (const char* variable : {"DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "QT_QPA_PLATFORM"}) {
        if (!qEnvironmentVariableIsEmpty(variable)) return {};
    }
    const bool chosen = std::ranges::any_of(arguments, [](QString argument) {
        argument.replace("--", "-");
        return argument.startsWith("-platform") || argument.startsWith("-display");
    });
    // What Wayland looks for where no variable names it.
    if (chosen || QFile::exists(qEnvironmentVariable("XDG_RUNTIME_DIR") + "/wayland-0")) return {};
    return QCoreApplication::translate("matte::Screen",
                                       "There is no display to open a window on: start matte on a desktop, or set "
                                       "DISPLAY; matte-cli needs none.");
#else
    Q_UNUSED(arguments);
    return {};
#endif
}

QString openGlProblem() {
    const QSurfaceFormat wanted = QSurfaceFormat::defaultFormat();
    QOpenGLContext context;
    QOffscreenSurface surface;
    surface.create();
    const bool works = context.create() && context.makeCurrent(&surface);
    if (works && context.format().version() >= wanted.version()) return {};
    return QCoreApplication::translate("matte::Screen",
                                       "Matte draws with OpenGL %1.%2, which this desktop does not have: install the "
                                       "graphics card's driver, or Mesa's libgl1-mesa-dri, which needs no card.")
        .arg(wanted.majorVersion())
        .arg(wanted.minorVersion());
}

}  // namespace matte
