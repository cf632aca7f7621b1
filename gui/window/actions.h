// SPDX-License-Identifier: Apache-2.0
// Actions: every command of the window, its text, icon and keys, in one table. GUI thread.
#pragma once

#include <QAction>
#include <QList>
#include <QObject>

#include <map>

#include "gui/app/settings.h"

namespace matte {

enum class ActionId {
    open = 1,
    openSample,
    paste,
    exportPicture,
    exportVideo,
    copyCutout,
    copyPicture,
    quit,
    undo,
    redo,
    resetParams,
    fit,
    actualSize,
    zoomIn,
    zoomOut,
    split,
    view,
    zoom,
    nextView,
    panel,
    fullScreen,
    photoMode,
    liveMode,
    live,
    useVideo,
    useFolder,
    useAddress,
    hidePerson,
    virtualCamera,
    snapshot,
    snapshotCutout,
    corner,
    overlay,
    trace,
    saveStatistics,
    mirror,
    temporalSmoothing,
    smallRegions,
    nearest,
    detail,
    wrap,
    cleanEdges,
    resetTransform,
    saveProfile,
    deleteProfile,
    shortcuts,
    about,
    cancel
};

/// The state of the window that decides which actions are enabled.
struct ActionContext {
    Mode mode = Mode::photo;
    bool photo = false;  ///< a photo is open
    bool livePicture = false;
    bool fineDetail = true;  ///< the live engine supports it
    bool profiles = false;   ///< at least one
    bool writesVideo = false;
    bool canUndo = false, canRedo = false;
};

class Actions : public QObject {
    Q_OBJECT

public:
    explicit Actions(QWidget* window);
    [[nodiscard]] QAction* operator[](ActionId id) const { return actions_.at(id); }
    /// In the table's order, for the shortcuts dialog.
    [[nodiscard]] const QList<QAction*>& all() const { return ordered_; }
    /// Enables the actions of this context, and disables all others. No other function enables an action.
    void setContext(const ActionContext& context);

private:
    std::map<ActionId, QAction*> actions_;
    QList<QAction*> ordered_;
};

}  // namespace matte
