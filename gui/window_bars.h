// SPDX-License-Identifier: Apache-2.0
// The main window's menus and tool bar, filled from the table of actions. GUI thread.
#pragma once

#include <QObject>
#include <QStringList>

#include "gui/photo_session.h"
#include "gui/settings.h"

class QActionGroup;
class QMainWindow;
class QMenu;
class QToolButton;

namespace matte {

class Actions;

class WindowBars : public QObject {
    Q_OBJECT

public:
    WindowBars(QMainWindow& window, const Actions& actions);
    void showRecent(const QStringList& files);
    void showTheme(ThemeChoice choice);
    void showZoom(double zoom);
    void showView(Showing showing);
    void setPhotoOpen(bool open);

signals:
    void recentChosen(const QString& path);
    void recentCleared();
    void themeChosen(matte::ThemeChoice choice);
    void viewChosen(matte::Showing showing);
    void zoomChosen(double zoom);

private:
    void buildMenus(QMainWindow& window, const Actions& actions);
    void buildTools(QMainWindow& window, const Actions& actions);
    QMenu* themeMenu(QWidget* parent);
    QMenu* viewMenu();
    QMenu* zoomMenu(const Actions& actions);

    QMenu* recent_;
    QActionGroup* themes_;
    QActionGroup* views_;
    QToolButton* view_;
    QToolButton* zoom_;
};

/// What a view is called.
[[nodiscard]] QString viewName(Showing showing);

}  // namespace matte
