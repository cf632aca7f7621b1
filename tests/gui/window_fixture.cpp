// SPDX-License-Identifier: Apache-2.0
#include "tests/gui/window_fixture.h"

#include <qtestspontaneevent.h>
#include <QApplication>
#include <QCloseEvent>
#include <QTest>

#include <fstream>

#include "gui/photo/photo_control.h"
#include "gui/widgets/banner.h"
#include "gui/window/canvas.h"
#include "gui/window/viewport.h"
#include "inference/media/image/image_file.h"

namespace matte::test {

QString writePhoto(const std::filesystem::path& path, Size size, Rgb color) {
    Image image(size, PixelFormat::rgba8);
    for (std::size_t i = 0; i < size.pixels(); ++i) {
        std::uint8_t* pixel = image.row(0) + 4 * i;
        pixel[0] = color.r;
        pixel[1] = color.g;
        pixel[2] = color.b;
        pixel[3] = 255;
    }
    writeImage(path, image.view());
    return QString::fromStdString(path.string());
}

QString writeText(const std::filesystem::path& path, const std::string& text) {
    std::ofstream(path) << text;
    return QString::fromStdString(path.string());
}

bool closeByDesktop(QWidget& window) {
    QCloseEvent event;
    QSpontaneKeyEvent::setSpontaneous(&event);
    QApplication::instance()->notify(&window, &event);  // sendEvent() would make it the program's own
    if (event.isAccepted()) window.close();
    return event.isAccepted();
}

namespace {

const Startup& withEngines(Startup& startup, const MakeEngine& factory) {
    if (!startup.makeLiveEngines) startup.makeLiveEngines = factory;
    if (!startup.makeVideoEngines) startup.makeVideoEngines = factory;
    return startup;
}

}  // namespace

WindowFixture::WindowFixture(const MakeEngine& factory, const Startup& given)
    : photo(writePhoto(folder / "photo.png")),
      startup(given),
      store(
          std::make_unique<QSettings>(QString::fromStdString((home / "settings.ini").string()), QSettings::IniFormat)),
      window(std::make_unique<MainWindow>(
          factory ? factory : fakeEngine(log), *store, withEngines(startup, factory ? factory : fakeEngine(log)))) {
    showWindow();
}

// Shortcuts need an active window, and nobody else makes it so on a display without a window manager.
void WindowFixture::flushEvents() {
    bool arrived = false;
    QMetaObject::invokeMethod(
        qApp, [&] { arrived = true; }, Qt::QueuedConnection);  // behind all that
    while (!arrived) QCoreApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents);
}

void WindowFixture::showWindow() {
    window->show();
    window->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(window.get()));
}

void WindowFixture::open(const QString& path) {
    const int before = log.composites;
    window->photos().open(PhotoSource::fromFile(path));
    QTRY_VERIFY(log.composites > before && window->document().photo().path == path);
    QTRY_VERIFY(window->canvas().viewport().splitPosition() >= 0);
}

void WindowFixture::restart() {
    window->close();
    window.reset();
    store->sync();
    window = std::make_unique<MainWindow>(fakeEngine(log), *store, startup);
    showWindow();
}

QAction* WindowFixture::menuAction(const QString& text) const {
    for (QAction* action : window->findChildren<QAction*>()) {
        if (action->text().remove('&').contains(text)) return action;
    }
    return nullptr;
}

QString WindowFixture::banner() const {
    const Banner& shown = window->canvas().banner();
    return shown.isVisible() ? shown.text() : QString();
}

bool WindowFixture::hasError() const {
    const Banner& shown = window->canvas().banner();
    return shown.isVisible() && shown.isError();
}

QColor WindowFixture::shownColor() const {
    Viewport& viewport = window->canvas().viewport();
    const QImage drawn = viewport.grabFramebuffer();
    return drawn.pixelColor(drawn.width() / 2 + 28, drawn.height() / 2 - 20);  // clear of the handle's shadow
}

}  // namespace matte::test
