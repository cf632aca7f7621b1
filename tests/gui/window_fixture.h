// SPDX-License-Identifier: Apache-2.0
// A main window with a fake engine, settings of its own and a folder of photos. GUI thread.
#pragma once

#include <QSettings>
#include <QString>

#include <memory>

#include "gui/window/main_window.h"
#include "tests/support/engines/fake_engine.h"
#include "tests/support/files/scratch_folder.h"

namespace matte::test {

constexpr Rgb kPhotoColor{10, 60, 200};

/// Writes a photo of one colour and returns its path.
QString writePhoto(const std::filesystem::path& path, Size size = {64, 48}, Rgb color = kPhotoColor);
QString writeText(const std::filesystem::path& path, const std::string& text);

/// Closes a window as the desktop does when its close button or Alt+F4 is pressed; whether it lets itself be closed.
bool closeByDesktop(QWidget& window);

struct WindowFixture {
    /// With a factory of its own, the log stays empty. What `startup` names no engines for gets the factory's.
    explicit WindowFixture(const MakeEngine& factory = {}, const Startup& startup = {.watchCameras = false});

    /// Opens a photo and waits until its result is shown.
    void open(const QString& path);
    void open() { open(photo); }
    /// Closes the window as a user does and makes another from the same settings.
    void restart();
    [[nodiscard]] QString banner() const;
    [[nodiscard]] bool hasError() const;
    /// The colour in the middle of the viewport, as it is drawn right of the split.
    [[nodiscard]] QColor shownColor() const;

    /// The first action whose text contains `text`, in any menu.
    [[nodiscard]] QAction* menuAction(const QString& text) const;
    void showWindow();
    /// Until everything that was said to the GUI thread so far has arrived there.
    static void flushEvents();

    ScratchFolder folder, home;  ///< home has the settings
    EngineLog log;
    QString photo;
    Startup startup;
    std::unique_ptr<QSettings> store;
    std::unique_ptr<MainWindow> window;
};

}  // namespace matte::test
