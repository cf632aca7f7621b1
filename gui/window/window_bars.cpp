// SPDX-License-Identifier: Apache-2.0
#include "gui/window/window_bars.h"

#include <QFileInfo>
#include <QMainWindow>
#include <QMenu>
#include <QMenuBar>
#include <QToolBar>
#include <QToolButton>

#include <cmath>

#include "gui/app/icons.h"
#include "gui/live/source_picker.h"
#include "gui/widgets/choice_menu.h"
#include "gui/window/actions.h"
#include "gui/window/tool_row.h"

namespace matte {
namespace {

constexpr Showing kViews[] = {Showing::result, Showing::matte, Showing::onBlack, Showing::onWhite, Showing::original};
constexpr double kZooms[] = {0.25, 0.5, 1, 2, 4, 8};

QToolButton* tool(QAction* action, bool withText = false) {
    auto* button = new QToolButton;
    button->setDefaultAction(action);
    button->setAccessibleName(action->whatsThis());
    button->setFocusPolicy(Qt::TabFocus);
    if (withText) button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    return button;
}

/// The one that the eye should find; its icon has the colour of the text on it, so that it can't be the action's own.
QToolButton* primaryTool(QAction* action, const QString& iconName) {
    auto* button = new QToolButton;
    button->setObjectName("primary");
    button->setText(action->iconText());
    button->setToolTip(action->toolTip());
    button->setIcon(glyph(iconName, QPalette::HighlightedText));
    button->setAccessibleName(action->whatsThis());
    button->setFocusPolicy(Qt::TabFocus);
    button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    button->setEnabled(action->isEnabled());
    QObject::connect(button, &QToolButton::clicked, action, &QAction::trigger);
    QObject::connect(action, &QAction::enabledChanged, button, &QToolButton::setEnabled);
    if (!action->isCheckable()) return button;
    // Not `toggled`: a click toggles the action before what it starts has given it its new text.
    QObject::connect(action, &QAction::changed, button, [button, action, iconName] {
        button->setText(action->iconText());
        button->setIcon(glyph(action->isChecked() ? "stop" : iconName, QPalette::HighlightedText));
    });
    return button;
}

/// For an action with a menu, of which its icon text says what is chosen.
QToolButton* menuTool(QAction* action, const char* name = "") {
    QToolButton* button = tool(action, true);
    button->setObjectName(name);
    button->setPopupMode(QToolButton::InstantPopup);
    button->setLayoutDirection(Qt::RightToLeft);  // the arrow after the text
    button->setProperty("menuButton", true);
    action->setIconVisibleInMenu(false);  // where there is an arrow to the right
    return button;
}

}  // namespace

QString viewName(Showing showing) {
    switch (showing) {
        case Showing::result: return WindowBars::tr("Result");
        case Showing::matte: return WindowBars::tr("Matte");
        case Showing::onBlack: return WindowBars::tr("On black");
        case Showing::onWhite: return WindowBars::tr("On white");
        case Showing::original: break;
    }
    return WindowBars::tr("Original");
}

WindowBars::WindowBars(QMainWindow& window, const Actions& actions)
    : QObject(&window),
      models_(new ChoiceMenu(tr("&Model"), &window)),
      precisions_(new ChoiceMenu(tr("P&recision"), &window)),
      themes_(new ChoiceMenu(tr("&Theme"), &window)),
      views_(new ChoiceMenu({}, &window)),
      view_(actions[ActionId::view]),
      zoom_(actions[ActionId::zoom]) {
    themes_->add(tr("As the &System"), int(ThemeChoice::system));
    themes_->add(tr("&Light"), int(ThemeChoice::light));
    themes_->add(tr("&Dark"), int(ThemeChoice::dark));
    for (const Showing showing : kViews) views_->add(viewName(showing), int(showing));
    sources_ = new SourcePicker(actions);
    buildMenus(window, actions);
    buildTools(window, actions);
    showZoom(1);
    showView(Showing::result);
}

void WindowBars::buildMenus(QMainWindow& window, const Actions& actions) {
    using Id = ActionId;
    const auto add = [&actions](QMenu* menu, std::initializer_list<Id> ids) {
        for (const Id id : ids) menu->addAction(actions[id]);
        menu->addSeparator();
    };
    QMenu* file = window.menuBar()->addMenu(tr("&File"));
    file->addAction(actions[Id::open]);
    recent_ = file->addMenu(tr("Open &Recent"));
    add(file, {Id::openSample, Id::paste});
    add(file, {Id::exportPicture, Id::copyCutout, Id::copyPicture});
    add(file, {Id::exportVideo});
    file->addAction(actions[Id::quit]);

    QMenu* edit = window.menuBar()->addMenu(tr("&Edit"));
    add(edit, {Id::undo, Id::redo});
    add(edit, {Id::cleanEdges, Id::wrap, Id::mirror, Id::temporalSmoothing, Id::smallRegions, Id::nearest, Id::detail});
    edit->addActions({actions[Id::resetTransform], actions[Id::resetParams]});

    QMenu* live = window.menuBar()->addMenu(tr("&Live"));
    add(live, {Id::photoMode, Id::liveMode});
    add(live, {Id::live, Id::hidePerson, Id::virtualCamera});
    add(live, {Id::useVideo, Id::useFolder, Id::useAddress});
    add(live, {Id::snapshot, Id::snapshotCutout});
    profiles_ = live->addMenu(tr("&Profiles"));
    add(live, {Id::saveProfile, Id::deleteProfile});
    live->addMenu(models_);
    live->addMenu(precisions_);
    live->addActions({actions[Id::overlay], actions[Id::trace], actions[Id::saveStatistics]});

    QMenu* view = window.menuBar()->addMenu(tr("&View"));
    add(view, {Id::split, Id::nextView});
    add(view, {Id::fit, Id::actualSize, Id::zoomIn, Id::zoomOut});
    view->addActions({actions[Id::panel], actions[Id::fullScreen], actions[Id::corner]});
    view->addMenu(themes_);

    window.menuBar()->addMenu(tr("&Help"))->addActions({actions[Id::shortcuts], actions[Id::about]});
}

QMenu* WindowBars::zoomMenu(QWidget* parent, const Actions& actions) {
    auto* menu = new QMenu(parent);
    menu->addAction(actions[ActionId::fit]);
    menu->addSeparator();
    for (const double zoom : kZooms) {
        connect(menu->addAction(QString("%1 %").arg(100 * zoom)), &QAction::triggered, this,
                [this, zoom] { Q_EMIT zoomChosen(zoom); });
    }
    return menu;
}

void WindowBars::buildTools(QMainWindow& window, const Actions& actions) {
    using Id = ActionId;
    using Rank = ToolRow::Rank;
    view_->setMenu(views_);
    zoom_->setMenu(zoomMenu(&window, actions));
    tools_ = new ToolRow;
    const auto add = [&](Id id, Rank rank, std::optional<Mode> mode = {}, bool named = false) {
        tools_->add(tool(actions[id], named), actions[id], rank, mode);
    };
    add(Id::photoMode, Rank::always, {}, true);
    add(Id::liveMode, Rank::always, {}, true);
    tools_->addRule();
    add(Id::open, Rank::main, Mode::photo, true);
    tools_->add(sources_, sources_->menu()->menuAction(), Rank::always, Mode::live);
    tools_->add(primaryTool(actions[Id::live], "start"), actions[Id::live], Rank::always, Mode::live);
    add(Id::undo, Rank::shortcut);
    add(Id::redo, Rank::shortcut);
    tools_->addStretch();
    add(Id::split, Rank::common, Mode::photo);
    tools_->add(menuTool(view_), view_, Rank::main, Mode::photo);
    add(Id::zoomOut, Rank::convenience, Mode::photo);
    tools_->add(menuTool(zoom_, "zoom"), zoom_, Rank::common, Mode::photo);
    for (const Id id : {Id::zoomIn, Id::fit, Id::actualSize}) add(id, Rank::convenience, Mode::photo);
    add(Id::hidePerson, Rank::main, Mode::live, true);
    tools_->addStretch();
    add(Id::copyCutout, Rank::shortcut, Mode::photo);
    tools_->add(primaryTool(actions[Id::exportPicture], "export"), actions[Id::exportPicture], Rank::always,
                Mode::photo);
    add(Id::virtualCamera, Rank::common, Mode::live);
    add(Id::snapshot, Rank::shortcut, Mode::live);
    add(Id::corner, Rank::shortcut, Mode::live);
    add(Id::overlay, Rank::convenience, Mode::live);
    tools_->addRule();
    add(Id::panel, Rank::main);
    bar_ = window.addToolBar(tr("Tools"));
    bar_->setObjectName("tools");
    bar_->setMovable(false);
    bar_->setContextMenuPolicy(Qt::PreventContextMenu);
    bar_->addWidget(tools_);
}

void WindowBars::showProfiles(const QList<Profile>& profiles) {
    qDeleteAll(profiles_->actions());  // clear() would leave them to the window, with their keys
    profiles_->setEnabled(!profiles.isEmpty());
    for (int i = 0; i < profiles.size(); ++i) {
        QAction* action = profiles_->addAction(QString(profiles[i].name).replace("&", "&&"));
        action->setShortcut(QKeySequence(QString("Ctrl+%1").arg(i + 1)));
        connect(action, &QAction::triggered, this, [this, i] { Q_EMIT profileChosen(i); });
        bar_->window()->addAction(action);  // its key works in full screen, where the menus are hidden
    }
}

void WindowBars::showRecent(const QStringList& files) {
    recent_->clear();
    recent_->setEnabled(!files.isEmpty());
    int number = 1;
    for (const QString& path : files) {
        const QString name = QFileInfo(path).fileName().replace("&", "&&");
        QAction* action = recent_->addAction(number <= 9 ? QString("&%1  %2").arg(number).arg(name) : name);
        ++number;
        action->setToolTip(path);
        connect(action, &QAction::triggered, this, [this, path] { Q_EMIT recentChosen(path); });
    }
    recent_->setToolTipsVisible(true);
    recent_->addSeparator();
    connect(recent_->addAction(tr("&Clear the List")), &QAction::triggered, this, &WindowBars::recentCleared);
}

void WindowBars::showZoom(double zoom) {
    const double percent = 100 * zoom;
    zoom_->setIconText(QString::number(percent, 'f', percent < 10 ? 1 : 0) + " %");
}

void WindowBars::showView(Showing showing) {
    view_->setIconText(viewName(showing));
    views_->setChosen(int(showing));
}

}  // namespace matte
