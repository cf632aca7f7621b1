// SPDX-License-Identifier: Apache-2.0
#include "gui/trace_recorder.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QPointer>
#include <QStandardPaths>
#include <QThreadPool>

namespace matte {

QString newTraceFile() {
    const QString documents = QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation);
    const QDir folder(QFileInfo(documents).isDir() ? documents : QDir::homePath());
    return folder.filePath("matte-trace-" + QDateTime::currentDateTime().toString("yyyy-MM-dd-hhmmss") + ".json");
}

void TraceRecorder::start(const QString& path) {
    trace_ = std::make_shared<Trace>(path.toStdString());
    session_.record(trace_);
}

void TraceRecorder::stop() {
    if (!trace_) return;
    session_.record(nullptr);
    QThreadPool::globalInstance()->start([self = QPointer(this), trace = std::move(trace_)] {
        QString problem;
        try {
            trace->finish();
        } catch (const std::exception& error) {
            problem = QString::fromStdString(error.what());
        }
        const QString path = QString::fromStdString(trace->path().string());
        QMetaObject::invokeMethod(qApp, [self, path, problem] {
            if (!self) return;
            if (problem.isEmpty()) {
                Q_EMIT self->saved(path);
            } else {
                Q_EMIT self->failed(problem);
            }
        });
    });
    trace_.reset();
}

}  // namespace matte
