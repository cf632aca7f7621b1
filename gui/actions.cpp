// SPDX-License-Identifier: Apache-2.0
#include "gui/actions.h"

#include <QWidget>

#include "gui/icons.h"

namespace matte {
namespace {

enum Flag { plain = 0, checkable = 1, needsPhoto = 2 };

struct Row {
    ActionId id;
    const char* text;
    const char* icon;
    const char* keys;  ///< separated by "; "
    const char* tip;
    int flags = plain;
};

#define MATTE_TR(text) QT_TRANSLATE_NOOP("matte::Actions", text)

// clang-format off
constexpr Row kRows[] = {
    {ActionId::open, MATTE_TR("&Open…"), "open", "Ctrl+O", MATTE_TR("Open a photo")},
    {ActionId::openSample, MATTE_TR("Open the &Sample"), "person", "", MATTE_TR("Try Matte on the sample portrait")},
    {ActionId::paste, MATTE_TR("&Paste"), "paste", "Ctrl+V", MATTE_TR("Open the picture or file on the clipboard")},
    {ActionId::exportPicture, MATTE_TR("&Export…"), "export", "Ctrl+E; Ctrl+S", MATTE_TR("Save the picture to a file"), needsPhoto},
    {ActionId::copyCutout, MATTE_TR("&Copy Cut-out"), "copy", "Ctrl+C", MATTE_TR("Copy the person alone, with transparency"), needsPhoto},
    {ActionId::copyPicture, MATTE_TR("Copy Pict&ure"), "copy", "Ctrl+Shift+C", MATTE_TR("Copy the picture with its new background"), needsPhoto},
    {ActionId::quit, MATTE_TR("&Quit"), "", "Ctrl+Q", MATTE_TR("Close Matte")},
    {ActionId::undo, MATTE_TR("&Undo"), "undo", "Ctrl+Z", MATTE_TR("Undo the last change")},
    {ActionId::redo, MATTE_TR("&Redo"), "redo", "Ctrl+Shift+Z; Ctrl+Y", MATTE_TR("Redo what was undone")},
    {ActionId::resetLook, MATTE_TR("Reset &Look"), "reset", "", MATTE_TR("Set background and edges back to how Matte starts")},
    {ActionId::fit, MATTE_TR("&Fit in Window"), "fit", "Ctrl+0", MATTE_TR("Show the whole picture"), needsPhoto},
    {ActionId::actualSize, MATTE_TR("&Actual Size"), "actual", "Ctrl+1", MATTE_TR("One pixel of the photo on one of the screen"), needsPhoto},
    {ActionId::zoomIn, MATTE_TR("Zoom &In"), "zoom-in", "Ctrl++; Ctrl+=", MATTE_TR("Zoom in"), needsPhoto},
    {ActionId::zoomOut, MATTE_TR("Zoom &Out"), "zoom-out", "Ctrl+-", MATTE_TR("Zoom out"), needsPhoto},
    {ActionId::split, MATTE_TR("&Before and After"), "split", "S", MATTE_TR("Compare with the original at a line that can be dragged"), checkable},
    {ActionId::nextView, MATTE_TR("&Next View"), "view", "F", MATTE_TR("Result, matte, on black, on white, original"), needsPhoto},
    {ActionId::panel, MATTE_TR("&Side Panel"), "panel", "F9", MATTE_TR("Show or hide the controls"), checkable},
    {ActionId::fullScreen, MATTE_TR("F&ull Screen"), "", "F11", MATTE_TR("Fill the screen, or go back"), checkable},
    {ActionId::shortcuts, MATTE_TR("&Keyboard Shortcuts"), "", "F1; Ctrl+?", MATTE_TR("Show what the keys do")},
    {ActionId::about, MATTE_TR("&About Matte"), "", "", MATTE_TR("Version and engine")},
    {ActionId::cancel, MATTE_TR("Cancel"), "close", "Esc", MATTE_TR("Stop the work, close the message, leave full screen")},
};
// clang-format on

}  // namespace

Actions::Actions(QWidget* window) : QObject(window) {
    for (const Row& row : kRows) {
        auto* action = new QAction(tr(row.text), this);
        if (*row.icon) action->setIcon(glyph(row.icon));
        action->setIconText(" " + tr(row.text).remove('&'));
        action->setShortcuts(QKeySequence::listFromString(row.keys));
        const QString keys = action->shortcut().toString(QKeySequence::NativeText);
        action->setToolTip(keys.isEmpty() ? tr(row.tip) : tr("%1 (%2)").arg(tr(row.tip), keys));
        action->setStatusTip(QString());
        action->setWhatsThis(tr(row.tip));
        action->setCheckable(row.flags & checkable);
        action->setMenuRole(row.id == ActionId::quit    ? QAction::QuitRole
                            : row.id == ActionId::about ? QAction::AboutRole
                                                        : QAction::NoRole);
        window->addAction(action);
        actions_[row.id] = action;
        ordered_.append(action);
        if (row.flags & needsPhoto) needPhoto_.append(action);
    }
    setPhotoOpen(false);
}

void Actions::setPhotoOpen(bool open) {
    for (QAction* action : needPhoto_) action->setEnabled(open);
}

}  // namespace matte
