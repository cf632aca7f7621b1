// SPDX-License-Identifier: Apache-2.0
// Actions: every command of the window, its text, icon and keys, in one table. GUI thread.
#pragma once

#include <QAction>
#include <QList>
#include <QObject>

#include <map>

#include "gui/settings.h"

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
    resetLook,
    fit,
    actualSize,
    zoomIn,
    zoomOut,
    split,
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
    steady,
    specks,
    nearest,
    detail,
    wrap,
    cleanEdges,
    resetStand,
    saveProfile,
    deleteProfile,
    shortcuts,
    about,
    cancel
};

class Actions : public QObject {
    Q_OBJECT

public:
    explicit Actions(QWidget* window);
    [[nodiscard]] QAction* operator[](ActionId id) const { return actions_.at(id); }
    /// In the table's order, for the shortcuts dialog.
    [[nodiscard]] const QList<QAction*>& all() const { return ordered_; }
    /// Enables what needs a photo, live mode, a live picture, or a picture of either.
    void setContext(Mode mode, bool picture);

private:
    std::map<ActionId, QAction*> actions_;
    QList<QAction*> ordered_, needPhoto_, needPicture_, needLive_, needLivePicture_;
};

}  // namespace matte
