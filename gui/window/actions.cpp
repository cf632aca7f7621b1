// SPDX-License-Identifier: Apache-2.0
#include "gui/window/actions.h"

#include <QWidget>

#include "gui/app/icons.h"

namespace matte {
namespace {

using Context = ActionContext;

enum class Kind { plain = 1, checkable };
using enum Kind;

struct Row {
    ActionId id;
    const char* text;
    const char* icon;
    const char* keys;  ///< separated by "; "
    const char* tip;
    Kind kind = plain;
    bool (*has)(const Context&) = nullptr;  ///< whether it has something to do; none: always
};

bool photo(const Context& now) {
    return now.mode == Mode::photo && now.photo;
}
bool live(const Context& now) {
    return now.mode == Mode::live;
}
bool livePicture(const Context& now) {
    return live(now) && now.livePicture;
}
bool picture(const Context& now) {
    return photo(now) || livePicture(now);
}
bool detail(const Context& now) {
    return live(now) && now.fineDetail;
}
bool noVideo(const Context& now) {
    return !now.writesVideo;
}
bool profiles(const Context& now) {
    return now.profiles;
}
bool undo(const Context& now) {
    return now.canUndo;
}
bool redo(const Context& now) {
    return now.canRedo;
}

#define MATTE_TR(text) QT_TRANSLATE_NOOP("matte::Actions", text)

// clang-format off
constexpr Row kRows[] = {
    {ActionId::open, MATTE_TR("&Open…"), "open", "Ctrl+O", MATTE_TR("Open a photo")},
    {ActionId::openSample, MATTE_TR("Open the &Sample"), "person", "", MATTE_TR("Try Matte on the sample portrait")},
    {ActionId::paste, MATTE_TR("&Paste"), "paste", "Ctrl+V", MATTE_TR("Open the picture or file on the clipboard")},
    {ActionId::exportPicture, MATTE_TR("&Export…"), "export", "Ctrl+E; Ctrl+S", MATTE_TR("Save the picture to a file"), plain, photo},
    {ActionId::exportVideo, MATTE_TR("Export a &Video…"), "video", "Ctrl+Shift+E", MATTE_TR("Write a whole video with the new background to a file"), plain, noVideo},
    {ActionId::copyCutout, MATTE_TR("&Copy Cut-out"), "copy", "Ctrl+C", MATTE_TR("Copy the person alone, with transparency"), plain, photo},
    {ActionId::copyPicture, MATTE_TR("Copy Pict&ure"), "copy", "Ctrl+Shift+C", MATTE_TR("Copy the picture with its new background"), plain, photo},
    {ActionId::quit, MATTE_TR("&Quit"), "", "Ctrl+Q", MATTE_TR("Close Matte")},
    {ActionId::undo, MATTE_TR("&Undo"), "undo", "Ctrl+Z", MATTE_TR("Undo the last change"), plain, undo},
    {ActionId::redo, MATTE_TR("&Redo"), "redo", "Ctrl+Shift+Z; Ctrl+Y", MATTE_TR("Redo what was undone"), plain, redo},
    {ActionId::resetParams, MATTE_TR("Reset &Parameters"), "reset", "", MATTE_TR("Set background and edges back to how Matte starts")},
    {ActionId::fit, MATTE_TR("&Fit in Window"), "fit", "Ctrl+0", MATTE_TR("Show the whole picture"), plain, picture},
    {ActionId::actualSize, MATTE_TR("&Actual Size"), "actual", "Ctrl+Alt+0", MATTE_TR("One pixel of the photo on one of the screen"), plain, picture},
    {ActionId::zoomIn, MATTE_TR("Zoom &In"), "zoom-in", "Ctrl++; Ctrl+=", MATTE_TR("Zoom in"), plain, picture},
    {ActionId::zoomOut, MATTE_TR("Zoom &Out"), "zoom-out", "Ctrl+-", MATTE_TR("Zoom out"), plain, picture},
    {ActionId::split, MATTE_TR("&Before and After"), "split", "S", MATTE_TR("Compare with the original at a line that can be dragged"), checkable, photo},
    {ActionId::view, MATTE_TR("&View"), "down", "", MATTE_TR("What to show (F for the next)"), plain, photo},
    {ActionId::zoom, MATTE_TR("&Zoom"), "down", "", MATTE_TR("How large to show it"), plain, photo},
    {ActionId::nextView, MATTE_TR("&Next View"), "view", "F", MATTE_TR("Result, matte, on black, on white, original"), plain, photo},
    {ActionId::panel, MATTE_TR("&Side Panel"), "panel", "F9", MATTE_TR("Show or hide the controls"), checkable},
    {ActionId::fullScreen, MATTE_TR("F&ull Screen"), "", "F11", MATTE_TR("Fill the screen, or go back"), checkable},
    {ActionId::photoMode, MATTE_TR("&Photo"), "image", "Ctrl+Shift+O", MATTE_TR("Work on a photo; the camera is turned off"), checkable},
    {ActionId::liveMode, MATTE_TR("&Live"), "camera", "Ctrl+Shift+L", MATTE_TR("See yourself live, from a camera or a video"), checkable},
    {ActionId::live, MATTE_TR("&Start"), "start", "Ctrl+L", MATTE_TR("Start or stop the camera"), checkable},
    {ActionId::useVideo, MATTE_TR("&Video File…"), "video", "", MATTE_TR("Play a video instead of a camera")},
    {ActionId::useFolder, MATTE_TR("Image &Folder…"), "folder", "", MATTE_TR("Play the pictures of a folder instead of a camera")},
    {ActionId::useAddress, MATTE_TR("&Address…"), "", "", MATTE_TR("Play what an address on the network sends")},
    {ActionId::hidePerson, MATTE_TR("&Hide Me"), "hide", "F8", MATTE_TR("Show the background alone, at once, or the person again"), checkable, live},
    {ActionId::virtualCamera, MATTE_TR("&Virtual Camera"), "broadcast", "Ctrl+Shift+V", MATTE_TR("Show this picture to other programs, as the camera “Matte”"), checkable},
    {ActionId::snapshot, MATTE_TR("Take a S&napshot"), "snapshot", "Ctrl+Shift+S", MATTE_TR("Save what is shown as a PNG file"), plain, livePicture},
    {ActionId::snapshotCutout, MATTE_TR("Snapshot of the &Cut-out"), "snapshot", "Ctrl+Alt+S", MATTE_TR("Save the person alone as a PNG file, with transparency"), plain, livePicture},
    {ActionId::corner, MATTE_TR("Picture in the &Corner"), "corner", "Ctrl+M", MATTE_TR("A small window that stays above the others, or the whole one again"), checkable, live},
    {ActionId::overlay, MATTE_TR("&Timing"), "timing", "F3", MATTE_TR("Where the time of a frame goes, drawn over the picture"), checkable, live},
    {ActionId::trace, MATTE_TR("&Record a Trace"), "", "Ctrl+T", MATTE_TR("Start or stop writing down what each thread does, for Perfetto"), checkable, live},
    {ActionId::saveStatistics, MATTE_TR("Save the S&tatistics…"), "", "", MATTE_TR("Save what the timing shows, as JSON or CSV"), plain, live},
    {ActionId::mirror, MATTE_TR("&Mirror"), "", "M", MATTE_TR("Turn mirroring on or off"), plain, live},
    {ActionId::temporalSmoothing, MATTE_TR("&Temporal Smoothing"), "", "T", MATTE_TR("Turn temporal smoothing on or off"), plain, live},
    {ActionId::smallRegions, MATTE_TR("Remove &Small Regions"), "", "K", MATTE_TR("Turn the removal of small regions on or off"), plain, live},
    {ActionId::nearest, MATTE_TR("&Nearest Person Only"), "", "N", MATTE_TR("Keep the nearest person only, or everybody"), plain, live},
    {ActionId::detail, MATTE_TR("&Fine Detail"), "", "H", MATTE_TR("Turn fine detail, as of photos, on or off"), plain, detail},
    {ActionId::wrap, MATTE_TR("Light &Wrap"), "", "W", MATTE_TR("Turn light wrap on or off")},
    {ActionId::cleanEdges, MATTE_TR("&Clean Edge Colours"), "", "D", MATTE_TR("Turn the cleaning of edge colours on or off")},
    {ActionId::resetTransform, MATTE_TR("Person's &Place Back"), "", "R", MATTE_TR("Set the person's size and place back")},
    {ActionId::saveProfile, MATTE_TR("&Save as Profile…"), "", "Ctrl+Shift+K", MATTE_TR("Keep parameters and source under a name")},
    {ActionId::deleteProfile, MATTE_TR("&Delete a Profile…"), "", "", MATTE_TR("Forget a profile"), plain, profiles},
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
        action->setCheckable(row.kind == checkable);
        if (row.kind == checkable) action->setIconVisibleInMenu(false);  // its mark stands in the icon's place
        action->setMenuRole(row.id == ActionId::quit    ? QAction::QuitRole
                            : row.id == ActionId::about ? QAction::AboutRole
                                                        : QAction::NoRole);
        window->addAction(action);
        actions_[row.id] = action;
        ordered_.append(action);
    }
    setContext({});
}

void Actions::setContext(const ActionContext& context) {
    for (const Row& row : kRows) actions_.at(row.id)->setEnabled(!row.has || row.has(context));
    actions_.at(ActionId::photoMode)->setChecked(context.mode == Mode::photo);
    actions_.at(ActionId::liveMode)->setChecked(context.mode == Mode::live);
}

}  // namespace matte
