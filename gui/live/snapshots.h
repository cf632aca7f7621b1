// SPDX-License-Identifier: Apache-2.0
// Snapshots: what is shown live as a PNG file, as it is or the person alone with transparency. Files are written on
// another thread. GUI thread.
#pragma once

#include <QObject>
#include <QTimer>

#include "gui/app/unique_file_name.h"
#include "gui/live/live_session.h"

namespace matte {

class Snapshots : public QObject {
    Q_OBJECT

public:
    explicit Snapshots(LiveSession& session, QObject* parent = nullptr);
    /// Into `folder`, under a name with the time in it; an empty folder is the user's pictures.
    void take(const QString& folder);
    /// The next frame's person without a background, while the window goes on as before.
    void takeCutout(const QString& folder);

Q_SIGNALS:
    void saved(const QString& path);
    void failed(const QString& sentence);

private:
    QString newFile(const QString& folder);
    void cutoutCame(const LiveSession::Live& live);
    void statusChanged(const LiveStatus& status);
    QString leave();
    void save(const std::shared_ptr<const Picture>& picture, const QString& path);

    LiveSession& session_;
    UniqueFileNames files_;
    QString waitingFor_;  ///< the cut-out's file; empty when none is under way
    QTimer patience_;
};

}  // namespace matte
