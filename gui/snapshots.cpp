// SPDX-License-Identifier: Apache-2.0
#include "gui/snapshots.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QPointer>
#include <QStandardPaths>
#include <QThreadPool>

#include <chrono>

#include "inference/error.h"
#include "inference/io/image_file.h"

namespace matte {
namespace {

constexpr std::chrono::seconds kPatience{3};

QString newFile(const QString& folder) {
    const QString pictures = QStandardPaths::writableLocation(QStandardPaths::PicturesLocation);
    const QDir target(QFileInfo(folder).isDir() ? folder : QFileInfo(pictures).isDir() ? pictures : QDir::homePath());
    const QString stem = "matte-" + QDateTime::currentDateTime().toString("yyyy-MM-dd-hhmmss");
    QString path = target.filePath(stem + ".png");
    for (int next = 2; QFileInfo::exists(path); ++next)
        path = target.filePath(QString("%1-%2.png").arg(stem).arg(next));
    return path;
}

bool isTransparentSomewhere(const Image& image) {
    for (int y = 0; y < image.size().height; ++y) {
        const std::uint8_t* pixel = image.row(y);
        for (int x = 0; x < image.size().width; ++x, pixel += 4) {
            if (pixel[3] < 255) return true;
        }
    }
    return false;
}

}  // namespace

Snapshots::Snapshots(LiveSession& session, Document& document, QObject* parent)
    : QObject(parent), session_(session), document_(document) {
    connect(&session_, &LiveSession::pictureHeld, this, &Snapshots::look);
    patience_.setSingleShot(true);
    connect(&patience_, &QTimer::timeout, this, [this] {
        leave();
        Q_EMIT failed(tr("No cut-out came in time: wait for the picture and try again."));
    });
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
    if (!newest || newest->curtain) {
        Q_EMIT failed(newest ? tr("You are hidden: show yourself first.")
                             : tr("There is no picture yet: start the camera first."));
        return;
    }
    if (!waitingFor_.isEmpty()) return;
    waitingFor_ = newFile(folder);
    session_.hold(true);
    Look alone = document_.look();
    alone.background.kind = Background::Kind::transparent;
    session_.setLook(alone);
    patience_.start(kPatience);
}

/// Pictures that were under way still have the old background.
void Snapshots::look(const LiveSession::Live& live) {
    if (waitingFor_.isEmpty() || live->curtain) return;
    try {
        if (!isTransparentSomewhere(*live->picture->image())) return;
        const QString path = waitingFor_;
        leave();
        save(live->picture, path);
    } catch (const Error& error) {
        leave();
        Q_EMIT failed(QString::fromStdString(error.what()));
    }
}

void Snapshots::leave() {
    patience_.stop();
    waitingFor_.clear();
    session_.setLook(document_.look());
    session_.hold(false);
}

void Snapshots::save(const std::shared_ptr<const Picture>& picture, const QString& path) {
    QThreadPool::globalInstance()->start([self = QPointer(this), picture, path] {
        QString problem;
        try {
            writeImage(path.toStdString(), picture->image()->view());
        } catch (const std::exception& error) {
            problem = QString::fromStdString(error.what());
        }
        QMetaObject::invokeMethod(qApp, [self, path, problem] {
            if (!self) return;
            if (problem.isEmpty()) {
                Q_EMIT self->saved(path);
            } else {
                Q_EMIT self->failed(problem);
            }
        });
    });
}

}  // namespace matte
