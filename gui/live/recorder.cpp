// SPDX-License-Identifier: Apache-2.0
#include "gui/live/recorder.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QPointer>
#include <QThreadPool>

#include <chrono>
#include <utility>

#include "gui/app/file_dialogs.h"
#include "gui/widgets/banner.h"
#include "gui/window/actions.h"
#include "inference/core/atomic_file.h"
#include "inference/core/thread.h"
#include "inference/media/image/image_file.h"

namespace matte {
namespace {

constexpr std::chrono::seconds kPatience{3};

}  // namespace

Recorder::Recorder(const Parts& parts, QWidget* window) : QObject(window), parts_(parts) {
    Banner& banner = parts_.banner;
    connect(this, &Recorder::saved, &banner,
            [&banner](const QString& path) { banner.showDone(tr("Saved %1.").arg(path), path); });
    connect(this, &Recorder::failed, &banner, &Banner::showError);
    connect(parts_.actions[ActionId::snapshot], &QAction::triggered, this,
            [this] { takeSnapshot(parts_.settings.live.snapshotFolder); });
    connect(parts_.actions[ActionId::snapshotCutout], &QAction::triggered, this,
            [this] { takeCutout(parts_.settings.live.snapshotFolder); });
    QAction* trace = parts_.actions[ActionId::trace];
    connect(trace, &QAction::toggled, this, [this, trace](bool on) {
        if (!on) return stopTrace();
        if (!startTrace()) return trace->setChecked(false);
        parts_.banner.showDone(tr("Recording a trace. Ctrl+T ends it."));
    });
    connect(parts_.actions[ActionId::saveStatistics], &QAction::triggered, this, [this, window] {
        const QString path = askForStatistics(window, parts_.settings.exportFolder);
        if (!path.isEmpty()) saveStatistics(path);
    });
    connect(&parts_.session, &LiveSession::cutoutCame, this, [this](const LiveSession::Live& live) {
        if (const QString path = endWait(); !path.isEmpty()) save(live->picture, path);
    });
    connect(&parts_.session, &LiveSession::statusChanged, this, [this](const LiveStatus& status) {
        if (waitingFor_.isEmpty() || !status.personHidden) return;
        endWait();
        Q_EMIT failed(tr("You are hidden: show yourself first."));
    });
    patience_.setSingleShot(true);
    connect(&patience_, &QTimer::timeout, this, [this] {
        endWait();
        Q_EMIT failed(tr("No cut-out came in time: wait for the picture and try again."));
    });
}

/// "STEM-2026-01-31-235959.SUFFIX" in `folder`, else in the user's folder `otherwise`, else at home.
QString Recorder::newFile(const QString& folder,
                          QStandardPaths::StandardLocation otherwise,
                          const QString& stem,
                          const QString& suffix) {
    const QString other = QStandardPaths::writableLocation(otherwise);
    const QDir target(QFileInfo(folder).isDir() ? folder : QFileInfo(other).isDir() ? other : QDir::homePath());
    const QString first = stem + "-" + QDateTime::currentDateTime().toString("yyyy-MM-dd-hhmmss");
    QString path = target.filePath(first + "." + suffix);
    for (int next = 2; given_.contains(path) || QFileInfo::exists(path); ++next)
        path = target.filePath(QString("%1-%2.%3").arg(first).arg(next).arg(suffix));
    given_.insert(path);
    return path;
}

QString Recorder::newSnapshot(const QString& folder) {
    return newFile(folder, QStandardPaths::PicturesLocation, "matte", "png");
}

void Recorder::takeSnapshot(const QString& folder) {
    const LiveSession::Live& newest = parts_.session.newest();
    if (!newest) {
        Q_EMIT failed(tr("There is no picture yet: start the camera first."));
        return;
    }
    save(newest->picture, newSnapshot(folder));
}

void Recorder::takeCutout(const QString& folder) {
    const LiveSession::Live& newest = parts_.session.newest();
    const bool hidden = parts_.session.status().personHidden;
    if (!newest || newest->placeholder || hidden) {
        Q_EMIT failed(hidden   ? tr("You are hidden: show yourself first.")
                      : newest ? tr("There is no picture yet of the person alone: wait a moment and try again.")
                               : tr("There is no picture yet: start the camera first."));
        return;
    }
    if (!waitingFor_.isEmpty()) return;
    waitingFor_ = newSnapshot(folder);
    parts_.session.requestCutout();
    patience_.start(kPatience);
}

/// Returns the file of the cut-out that was waited for.
QString Recorder::endWait() {
    patience_.stop();
    parts_.session.dropCutout();
    return std::exchange(waitingFor_, {});
}

bool Recorder::startTrace() {
    if (parts_.session.recording()) {
        Q_EMIT failed(tr("A trace is being recorded already, as --trace asked: it is written when Matte ends."));
        return false;
    }
    const QString path = newFile({}, QStandardPaths::DocumentsLocation, "matte-trace", "json");
    guarded([&] { trace_ = std::make_shared<Trace>(path.toStdString()); },
            [this](const char* sentence, ErrorCategory) { Q_EMIT failed(sentence); });
    if (trace_) parts_.session.record(trace_);
    return trace_ != nullptr;
}

void Recorder::stopTrace() {
    if (!trace_) return;
    parts_.session.record(nullptr);
    const QString path = QString::fromStdString(trace_->path().string());
    saveInBackground(path, [trace = std::exchange(trace_, nullptr)] { trace->finish(); });
}

void Recorder::saveStatistics(const QString& path) {
    try {
        refuseReplacing(path.toStdString(), parts_.filesRead());
        writeReport(path, parts_.report());
        Q_EMIT saved(path);
    } catch (const Error& error) {
        Q_EMIT failed(QString::fromStdString(error.what()));
    }
}

void Recorder::save(const std::shared_ptr<const Picture>& picture, const QString& path) {
    saveInBackground(path, [picture, path] { writeImage(path.toStdString(), picture->image()->view()); });
}

/// saved() or failed() comes through the event queue, if this is still there.
void Recorder::saveInBackground(const QString& path, std::function<void()> write) {
    QThreadPool::globalInstance()->start([self = QPointer(this), path, write = std::move(write)] {
        const auto tell = [self](auto news) {
            QMetaObject::invokeMethod(qApp, [self, news] {
                if (self) news(*self);
            });
        };
        const auto save = [&] {
            write();
            tell([path](Recorder& recorder) { Q_EMIT recorder.saved(path); });
        };
        guarded(save, [&](const char* sentence, ErrorCategory) {
            tell([problem = QString(sentence)](Recorder& recorder) { Q_EMIT recorder.failed(problem); });
        });
    });
}

}  // namespace matte
