// SPDX-License-Identifier: Apache-2.0
// TraceRecorder: starts and stops a trace of the live run; the file is written on another thread. GUI thread.
#pragma once

#include <QObject>

#include <memory>

#include "gui/live_session.h"

namespace matte {

class TraceRecorder : public QObject {
    Q_OBJECT

public:
    explicit TraceRecorder(LiveSession& session, QObject* parent = nullptr) : QObject(parent), session_(session) {}
    void start(const QString& path);
    void stop();

Q_SIGNALS:
    void saved(const QString& path);
    void failed(const QString& sentence);

private:
    LiveSession& session_;
    std::shared_ptr<Trace> trace_;
};

/// A new file for a trace in the user's documents, or the home folder.
[[nodiscard]] QString newTraceFile();

}  // namespace matte
