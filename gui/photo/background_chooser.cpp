// SPDX-License-Identifier: Apache-2.0
#include "gui/photo/background_chooser.h"

#include <utility>

namespace matte {

BackgroundChooser::BackgroundChooser(Document& document, PhotoSession& session, QObject* parent)
    : QObject(parent), document_(document), session_(session) {
    connect(&document_, &Document::paramsChanged, this,
            [this](const CompositeParams& params) { changed(params.background); });
    connect(&session_, &PhotoSession::backgroundLoaded, this, &BackgroundChooser::loaded);
    connect(&session_, &PhotoSession::backgroundFailed, this, [this](const QString& path) {
        if (awaited_ && awaited_->control && awaited_->path == path.toStdString()) giveUp();
    });
}

/// A profile has its own colours, and its own placement unless that was changed since; else both stay.
void BackgroundChooser::lay(Background& into, const Awaited& awaited, const Background& read) {
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

void BackgroundChooser::choose(const QString& path) {
    document_.finishGesture();
    await({.path = path.toStdString(), .control = ParamControl::image});
}

void BackgroundChooser::restore(CompositeParams params) {
    Background& background = params.background;
    const bool picture = background.kind == Background::Kind::image;
    if (picture) background.kind = Background::Kind::color;
    document_.resetParams(params);
    if (!picture) return;
    standIn_ = background;
    await({.path = background.imagePath});
}

void BackgroundChooser::applyProfile(CompositeParams params) {
    const Background laid = params.background;
    const bool unread = laid.kind == Background::Kind::image && !laid.image;
    if (unread) params.background = document_.params().background;
    document_.finishGesture();
    const int before = document_.lastStep();
    document_.edit(params, ParamControl::profile);
    if (unread) {
        const int step = document_.lastStep() == before ? 0 : document_.lastStep();
        await({.path = laid.imagePath, .control = ParamControl::profile, .laid = laid, .step = step});
    } else {
        giveUp();
        document_.finishGesture();
    }
}

void BackgroundChooser::await(Awaited picture) {
    picture.before = document_.params().background;
    picture.since = document_.lastStep();
    awaited_ = std::move(picture);
    session_.loadBackground(QString::fromStdString(awaited_->path));
}

void BackgroundChooser::loaded(const Background& read) {
    if (!awaited_ || awaited_->path != read.imagePath) return;
    const Awaited awaited = *std::exchange(awaited_, std::nullopt);
    standIn_.reset();
    const auto change = [&](CompositeParams& params) { lay(params.background, awaited, read); };
    if (!awaited.control) {
        CompositeParams params = document_.params();
        change(params);
        document_.resetParams(params);
    } else if (!document_.amend(awaited.step, change)) {
        document_.step(*awaited.control, change);
    }
    Q_EMIT settled();
}

/// The placement is no other choice: it may be changed while the background before is still shown.
void BackgroundChooser::changed(Background now) {
    if (!awaited_) return;
    now.placement = awaited_->before.placement;
    now.position = awaited_->before.position;
    if (now != awaited_->before) giveUp();
}

void BackgroundChooser::giveUp() {
    if (!awaited_) return;
    awaited_.reset();
    Q_EMIT settled();
}

void BackgroundChooser::undo() {
    if (awaited_ && document_.lastStep() <= awaited_->since) giveUp();
    document_.undo();
}

CompositeParams BackgroundChooser::wantedParams() const {
    CompositeParams params = document_.params();
    Background& background = params.background;
    if (awaited_ && awaited_->control) {
        Background unread;
        unread.imagePath = awaited_->path;
        unread.moving = awaited_->laid && awaited_->laid->moving;
        lay(background, *awaited_, unread);
    } else if (standIn_ && background.kind == standIn_->kind && background.color == standIn_->color &&
               background.imagePath == standIn_->imagePath) {
        background.kind = Background::Kind::image;
    }
    return params;
}

}  // namespace matte
