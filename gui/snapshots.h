// SPDX-License-Identifier: Apache-2.0
// Snapshots: what is shown live as a PNG file, as it is or the person alone with transparency. Files are written on
// another thread. GUI thread.
#pragma once

#include <QObject>
#include <QTimer>

#include "gui/document.h"
#include "gui/live_session.h"

namespace matte {

class Snapshots : public QObject {
    Q_OBJECT

public:
    Snapshots(LiveSession& session, Document& document, QObject* parent = nullptr);
    /// Into `folder`, under a name with the time in it; an empty folder is the user's pictures.
    void take(const QString& folder);
    /// Composites without a background until a picture of that came, while the window goes on showing the last one.
    void takeCutout(const QString& folder);

Q_SIGNALS:
    void saved(const QString& path);
    void failed(const QString& sentence);

private:
    void look(const LiveSession::Live& live);
    void leave();
    void save(const std::shared_ptr<const Picture>& picture, const QString& path);

    LiveSession& session_;
    Document& document_;
    QString waitingFor_;  ///< the cut-out's file; empty when none is under way
    QTimer patience_;
};

}  // namespace matte
