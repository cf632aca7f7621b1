// SPDX-License-Identifier: Apache-2.0
#include "gui/trace_recorder.h"

#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>

#include "gui/save_in_background.h"

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
    const QString path = QString::fromStdString(trace_->path().string());
    saveInBackground(this, path, [trace = std::move(trace_)] { trace->finish(); });
    trace_.reset();
}

}  // namespace matte
