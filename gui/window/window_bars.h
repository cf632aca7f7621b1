// SPDX-License-Identifier: Apache-2.0
// The main window's menus and tool bar, filled from the table of actions. GUI thread.
#pragma once

#include <QObject>
#include <QStringList>

#include "gui/app/settings.h"
#include "gui/photo/photo_session.h"

class QAction;
class QMainWindow;
class QMenu;
class QToolBar;

namespace matte {

class Actions;
class ChoiceMenu;
class SourcePicker;
class ToolRow;

class WindowBars : public QObject {
    Q_OBJECT

public:
    WindowBars(QMainWindow& window, const Actions& actions);
    void showRecent(const QStringList& files);
    void showZoom(double zoom);
    void showProfiles(const QList<Profile>& profiles);
    [[nodiscard]] SourcePicker& sources() { return *sources_; }
    /// The view of the photo, also on its button.
    void showView(Showing showing);
    /// The values are of ThemeChoice and Showing.
    [[nodiscard]] ChoiceMenu& themes() { return *themes_; }
    [[nodiscard]] ChoiceMenu& views() { return *views_; }
    /// Empty menus, for EnginePicker.
    [[nodiscard]] ChoiceMenu& models() { return *models_; }
    [[nodiscard]] ChoiceMenu& precisions() { return *precisions_; }
    [[nodiscard]] ToolRow& tools() { return *tools_; }
    [[nodiscard]] QToolBar* toolBar() { return bar_; }

Q_SIGNALS:
    void recentChosen(const QString& path);
    void recentCleared();
    void zoomChosen(double zoom);
    void profileChosen(int index);

private:
    void buildMenus(QMainWindow& window, const Actions& actions);
    void buildTools(QMainWindow& window, const Actions& actions);
    QMenu* zoomMenu(QWidget* parent, const Actions& actions);

    QToolBar* bar_;
    SourcePicker* sources_;
    ToolRow* tools_;
    QMenu* recent_;
    QMenu* profiles_;
    ChoiceMenu *models_, *precisions_, *themes_, *views_;
    QAction* view_;
    QAction* zoom_;
};

/// What a view is called.
[[nodiscard]] QString viewName(Showing showing);

}  // namespace matte
