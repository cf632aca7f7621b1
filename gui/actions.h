// SPDX-License-Identifier: Apache-2.0
// Actions: every command of the window, its text, icon and keys, in one table. GUI thread.
#pragma once

#include <QAction>
#include <QList>
#include <QObject>

#include <map>

namespace matte {

enum class ActionId {
    open = 1,
    openSample,
    paste,
    exportPicture,
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
    /// Enables what needs a photo.
    void setPhotoOpen(bool open);

private:
    std::map<ActionId, QAction*> actions_;
    QList<QAction*> ordered_, needPhoto_;
};

}  // namespace matte
