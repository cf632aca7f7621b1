// SPDX-License-Identifier: Apache-2.0
#include "gui/live/snapshots.h"

#include <chrono>
#include <utility>

#include "gui/app/save_in_background.h"
#include "inference/core/error.h"
#include "inference/media/image/image_file.h"

namespace matte {
namespace {

constexpr std::chrono::seconds kPatience{3};

}  // namespace

Snapshots::Snapshots(LiveSession& session, QObject* parent) : QObject(parent), session_(session) {
    connect(&session_, &LiveSession::cutoutCame, this, &Snapshots::cutoutCame);
    connect(&session_, &LiveSession::statusChanged, this, &Snapshots::statusChanged);
    patience_.setSingleShot(true);
    connect(&patience_, &QTimer::timeout, this, [this] {
        leave();
        Q_EMIT failed(tr("No cut-out came in time: wait for the picture and try again."));
    });
}

QString Snapshots::newFile(const QString& folder) {
    return files_.name(folder, QStandardPaths::PicturesLocation, "matte", "png");
}

void Snapshots::take(const QString& folder) {
    if (!session_.newest()) {
        Q_EMIT failed(tr("There is no picture yet: start the camera first."));
        return;
    }
    save(session_.newest()->picture, newFile(folder));
}

void Snapshots::takeCutout(const QString& folder) {
    const LiveSession::Live newest = session_.newest();
    const bool hidden = session_.status().personHidden;
    if (!newest || newest->placeholder || hidden) {
        Q_EMIT failed(hidden   ? tr("You are hidden: show yourself first.")
                      : newest ? tr("There is no picture yet of the person alone: wait a moment and try again.")
                               : tr("There is no picture yet: start the camera first."));
        return;
    }
    if (!waitingFor_.isEmpty()) return;
    waitingFor_ = newFile(folder);
    session_.requestCutout();
    patience_.start(kPatience);
}

void Snapshots::cutoutCame(const LiveSession::Live& live) {
    if (const QString path = leave(); !path.isEmpty()) save(live->picture, path);
}

/// Who hides does not want to be in a file a moment later.
void Snapshots::statusChanged(const LiveStatus& status) {
    if (waitingFor_.isEmpty() || !status.personHidden) return;
    leave();
    Q_EMIT failed(tr("You are hidden: show yourself first."));
}

/// The file that was waited for.
QString Snapshots::leave() {
    patience_.stop();
    session_.dropCutout();
    return std::exchange(waitingFor_, {});
}

void Snapshots::save(const std::shared_ptr<const Picture>& picture, const QString& path) {
    saveInBackground(this, path, [picture, path] { writeImage(path.toStdString(), picture->image()->view()); });
}

}  // namespace matte
