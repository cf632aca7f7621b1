// SPDX-License-Identifier: Apache-2.0
#include "gui/timing/trace_recorder.h"

#include <new>

#include "gui/app/save_in_background.h"
#include "inference/core/error.h"

namespace matte {

bool TraceRecorder::start() {
    if (session_.recording()) {
        Q_EMIT failed(tr("A trace is being recorded already, as --trace asked: it is written when Matte ends."));
        return false;
    }
    const QString path = files_.name({}, QStandardPaths::DocumentsLocation, "matte-trace", "json");
    try {
        trace_ = std::make_shared<Trace>(path.toStdString());
    } catch (const Error& error) {
        Q_EMIT failed(QString::fromStdString(error.what()));
        return false;
    } catch (const std::bad_alloc&) {
        Q_EMIT failed(tr("There is not enough memory for a trace: close other programs and try again."));
        return false;
    }
    session_.record(trace_);
    return true;
}

void TraceRecorder::stop() {
    if (!trace_) return;
    session_.record(nullptr);
    const QString path = QString::fromStdString(trace_->path().string());
    saveInBackground(this, path, [trace = std::move(trace_)] { trace->finish(); });
    trace_.reset();
}

}  // namespace matte
