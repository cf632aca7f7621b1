// SPDX-License-Identifier: Apache-2.0
// The backgrounds in MainWindow that have to be read first: of a file that was chosen, of a profile, of the last time.
#include "gui/banner.h"
#include "gui/canvas.h"
#include "gui/live_control.h"
#include "gui/main_window.h"

namespace matte {
namespace {

/// What stands behind the person; where it lies and every colour stay as they are.
void takePicture(Background& into, const Background& from) {
    into.kind = from.kind;
    into.image = from.image;
    into.imagePath = from.imagePath;
    into.moving = from.moving;
}

}  // namespace

void MainWindow::setBackgroundPicture(const QString& path) {
    document_.finishGesture();
    awaitPicture(path.toStdString(), LookControl::image);
}

void MainWindow::awaitPicture(const std::string& path, std::optional<LookControl> control) {
    awaited_ = {path, control, document_.look().background, document_.undoStack().index()};
    session_.loadBackground(QString::fromStdString(path));
}

void MainWindow::backgroundLoaded(const Background& read) {
    if (!awaited_ || awaited_->path != read.imagePath) return;
    const std::optional<LookControl> control = awaited_->control;
    Look look = document_.look();
    takePicture(look.background, read);
    look.background.kind = Background::Kind::image;
    awaited_.reset();
    if (control) {
        document_.edit(look, *control);  // one step with the rest of a profile
        document_.finishGesture();
    } else {
        document_.resetLook(look);
    }
    Q_EMIT backgroundShown();
}

/// Whatever the user chose meanwhile goes before a picture that is still being read, or could not be. Where it lies is
/// no such choice: that may be moved while the one before is still seen.
void MainWindow::backgroundChanged(Background now) {
    if (standIn_ && now != *standIn_) standIn_.reset();
    if (!awaited_) return;
    now.placement = awaited_->before.placement;
    now.position = awaited_->before.position;
    if (now != awaited_->before) awaited_.reset();
}

void MainWindow::undo() {
    if (awaited_ && document_.undoStack().index() <= awaited_->steps) awaited_.reset();
    document_.undo();
}

/// A picture that was not read yet arrives a moment later; until then the one before stays.
void MainWindow::applyProfile(int index) {
    if (index < 0 || index >= settings_.live.profiles.size()) return;
    const Profile profile = settings_.live.profiles[index];
    Look look = profile.look;
    const bool unread = look.background.kind == Background::Kind::image && !look.background.image;
    if (unread) takePicture(look.background, document_.look().background);
    // First, because each kind of source has a mirror setting of its own.
    if (profile.source != settings_.live.source) liveControl_->choose(profile.source);
    // A photo is never mirrored: undone live, the step would turn the source's mirror.
    if (liveControl_->mode() == Mode::photo) look.stand.mirrored = document_.look().stand.mirrored;
    document_.finishGesture();
    document_.edit(look, LookControl::profile);
    awaited_.reset();
    if (unread) {
        awaitPicture(profile.look.background.imagePath, LookControl::profile);
    } else {
        document_.finishGesture();
    }
    canvas_->banner().showDone(profile.name);
}

}  // namespace matte
