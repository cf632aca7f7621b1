// SPDX-License-Identifier: Apache-2.0
// The backgrounds in MainWindow that have to be read first: of a file that was chosen, of a profile, of the last time.
#include <utility>

#include "gui/live/live_control.h"
#include "gui/widgets/banner.h"
#include "gui/window/canvas.h"
#include "gui/window/main_window.h"

namespace matte {
namespace {

/// What is to stand behind the person. Every colour is the profile's, and so is where it lies, unless that was moved
/// since; without a profile both stay.
void layPicture(Background& into, const AwaitedPicture& awaited, const Background& read) {
    if (awaited.laid) {
        const Background& before = awaited.before;
        Background laid = *awaited.laid;
        if (into.placement != before.placement) laid.placement = into.placement;
        if (into.position != before.position) laid.position = into.position;
        into = laid;
    }
    into.kind = Background::Kind::image;
    into.image = read.image;
    into.imagePath = read.imagePath;
    into.moving = read.moving;
}

}  // namespace

void MainWindow::setBackgroundPicture(const QString& path) {
    document_.finishGesture();
    awaitPicture({.path = path.toStdString(), .control = ParamControl::image});
}

void MainWindow::awaitPicture(AwaitedPicture picture) {
    picture.before = document_.params().background;
    picture.since = document_.lastStep();
    awaited_ = std::move(picture);
    session_.loadBackground(QString::fromStdString(awaited_->path));
}

void MainWindow::backgroundLoaded(const Background& read) {
    if (!awaited_ || awaited_->path != read.imagePath) return;
    const AwaitedPicture awaited = *std::exchange(awaited_, std::nullopt);
    standIn_.reset();
    const auto lay = [&](CompositeParams& params) { layPicture(params.background, awaited, read); };
    CompositeParams params = document_.params();
    lay(params);
    if (!awaited.control) {
        document_.resetParams(params);
    } else if (!document_.amend(awaited.step, lay)) {
        document_.finishGesture();
        document_.edit(params, *awaited.control);
        document_.finishGesture();
    }
    Q_EMIT backgroundSettled();
}

/// One that a person chose and that can't be read is wanted no more: what stands there stays.
void MainWindow::backgroundFailed(const QString& path) {
    if (awaited_ && awaited_->control && awaited_->path == path.toStdString()) giveUpPicture();
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
    return standIn_ && background.kind == standIn_->kind && background.color == standIn_->color &&
           background.imagePath == standIn_->imagePath;
}

/// What is to be remembered: the parameters with the picture that was asked for, be it not read yet.
CompositeParams MainWindow::wantedParams() const {
    CompositeParams params = document_.params();
    if (awaited_ && awaited_->control) {
        Background unread;
        unread.imagePath = awaited_->path;
        unread.moving = awaited_->laid && awaited_->laid->moving;
        layPicture(params.background, *awaited_, unread);
    } else if (isStandIn(params.background)) {
        params.background.kind = Background::Kind::image;
    }
    return params;
}

void MainWindow::undo() {
    if (awaited_ && document_.lastStep() <= awaited_->since) giveUpPicture();
    document_.undo();
}

/// A picture that was not read yet arrives a moment later; until then what stood there stays as it was, a strong blur
/// as strong.
void MainWindow::applyProfile(int index) {
    if (index < 0 || index >= settings_.live.profiles.size()) return;
    const Profile profile = settings_.live.profiles[index];
    CompositeParams params = profile.params;
    const bool unread = params.background.kind == Background::Kind::image && !params.background.image;
    if (unread) params.background = document_.params().background;
    // First, because each kind of source has a mirror setting of its own.
    if (profile.source != settings_.live.source) liveControl_->choose(profile.source);
    // A photo is never mirrored: undone live, the step would turn the source's mirror.
    if (liveControl_->mode() == Mode::photo) params.transform.mirrored = document_.params().transform.mirrored;
    document_.finishGesture();
    const int before = document_.lastStep();
    document_.edit(params, ParamControl::profile);
    if (unread) {
        const Background& laid = profile.params.background;
        const int step = document_.lastStep() == before ? 0 : document_.lastStep();
        awaitPicture({.path = laid.imagePath, .control = ParamControl::profile, .laid = laid, .step = step});
    } else {
        giveUpPicture();
        document_.finishGesture();
    }
    canvas_->banner().showDone(profile.name);
}

}  // namespace matte
