// SPDX-License-Identifier: Apache-2.0
// Recorder: writes what is seen and measured live to files: snapshots, cut-outs, traces and statistics. Pictures and
// traces are written on another thread. GUI thread.
#pragma once

#include <QObject>
#include <QSet>
#include <QStandardPaths>
#include <QTimer>

#include <functional>
#include <memory>

#include "gui/app/settings.h"
#include "gui/live/live_report.h"
#include "gui/live/live_session.h"
#include "gui/photo/photo_control.h"

namespace matte {

class Banner;

class Recorder : public QObject {
    Q_OBJECT

public:
    struct Parts {
        const Actions& actions;
        LiveSession& session;
        Banner& banner;
        Settings& settings;
        std::function<LiveReport()> report;  ///< with the footprint
        FilesRead filesRead;
    };
    Recorder(const Parts& parts, QWidget* window);

    /// Writes the picture that is shown as a PNG file into `folder`; where that is none, into the user's pictures.
    void takeSnapshot(const QString& folder);
    /// The same of the next frame without its background. The window shows nothing of it.
    void takeCutout(const QString& folder);

Q_SIGNALS:
    void saved(const QString& path);
    void failed(const QString& sentence);

private:
    [[nodiscard]] QString newFile(const QString& folder,
                                  QStandardPaths::StandardLocation otherwise,
                                  const QString& stem,
                                  const QString& suffix);
    [[nodiscard]] QString newSnapshot(const QString& folder);
    bool startTrace();
    void stopTrace();
    void saveStatistics(const QString& path);
    QString endWait();
    void save(const std::shared_ptr<const Picture>& picture, const QString& path);
    void saveInBackground(const QString& path, std::function<void()> write);

    Parts parts_;
    QSet<QString> given_;  ///< names of files, which may not be there yet
    QString waitingFor_;   ///< the cut-out's file; empty when none is under way
    QTimer patience_;
    std::shared_ptr<Trace> trace_;
};

}  // namespace matte
