// SPDX-License-Identifier: Apache-2.0
// The backgrounds in MainWindow that have to be read first: of a file that was chosen, of a profile, of the last time.
#include <utility>

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

void MainWindow::awaitPicture(const std::string& path,
                              std::optional<LookControl> control,
                              const std::optional<Background>& laid) {
    awaited_ = {path, control, document_.look().background, laid, document_.undoStack().index()};
    session_.loadBackground(QString::fromStdString(path));
}

void MainWindow::backgroundLoaded(const Background& read) {
    if (!awaited_ || awaited_->path != read.imagePath) return;
    const AwaitedPicture awaited = *std::exchange(awaited_, std::nullopt);
    standIn_.reset();
    Look look = document_.look();
    if (awaited.laid) look.background = *awaited.laid;
    takePicture(look.background, read);
    look.background.kind = Background::Kind::image;
    if (awaited.control) {
        document_.edit(look, *awaited.control);  // one step with the rest of a profile
        document_.finishGesture();
    } else {
        document_.resetLook(look);
    }
    Q_EMIT backgroundSettled();
}

/// Whatever the user chose meanwhile goes before a picture that is still being read. Where it lies is no such choice:
/// that may be moved while the one before is still seen.
void MainWindow::backgroundChanged(Background now) {
    if (!awaited_) return;
    now.placement = awaited_->before.placement;
    now.position = awaited_->before.position;
    if (now != awaited_->before) giveUpPicture();
}

void MainWindow::giveUpPicture() {
    if (!awaited_) return;
    awaited_.reset();
    Q_EMIT backgroundSettled();
}

/// A remembered picture that could not be read (yet) is still the user's choice for as long as nothing else is.
bool MainWindow::isStandIn(const Background& background) const {
    return standIn_ && background.kind == standIn_->kind && background.color == standIn_->color;
}

void MainWindow::undo() {
    if (awaited_ && document_.undoStack().index() <= awaited_->steps) giveUpPicture();
    document_.undo();
}

/// A picture that was not read yet arrives a moment later; until then what stood there stays as it was, a strong blur
/// as strong.
void MainWindow::applyProfile(int index) {
    if (index < 0 || index >= settings_.live.profiles.size()) return;
    const Profile profile = settings_.live.profiles[index];
    Look look = profile.look;
    const bool unread = look.background.kind == Background::Kind::image && !look.background.image;
    if (unread) look.background = document_.look().background;
    // First, because each kind of source has a mirror setting of its own.
    if (profile.source != settings_.live.source) liveControl_->choose(profile.source);
    // A photo is never mirrored: undone live, the step would turn the source's mirror.
    if (liveControl_->mode() == Mode::photo) look.stand.mirrored = document_.look().stand.mirrored;
    document_.finishGesture();
    document_.edit(look, LookControl::profile);
    if (unread) {
        awaitPicture(profile.look.background.imagePath, LookControl::profile, profile.look.background);
    } else {
        giveUpPicture();
        document_.finishGesture();
    }
    canvas_->banner().showDone(profile.name);
}

}  // namespace matte
