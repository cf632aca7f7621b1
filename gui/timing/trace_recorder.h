// SPDX-License-Identifier: Apache-2.0
// TraceRecorder: starts and stops a trace of the live run; the file is written on another thread. GUI thread.
#pragma once

#include <QObject>

#include <memory>

#include "gui/app/unique_file_name.h"
#include "gui/live/live_session.h"

namespace matte {

class TraceRecorder : public QObject {
    Q_OBJECT

public:
    explicit TraceRecorder(LiveSession& session, QObject* parent = nullptr) : QObject(parent), session_(session) {}
    /// Into a new file in the user's documents, or the home folder. False when that can't be written, or another trace
    /// is under way: failed() says so.
    bool start();
    void stop();

Q_SIGNALS:
    void saved(const QString& path);
    void failed(const QString& sentence);

private:
    LiveSession& session_;
    std::shared_ptr<Trace> trace_;
    UniqueFileNames files_;
};

}  // namespace matte
