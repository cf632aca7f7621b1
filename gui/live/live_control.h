// SPDX-License-Identifier: Apache-2.0
// LiveControl: live mode in the window: the chosen source runs through the session onto the canvas, what goes wrong is
// said in the banner, how fast it is in the status line. GUI thread.
#pragma once

#include <QObject>
#include <QTimer>

#include <optional>
#include <string>
#include <vector>

#include "gui/app/settings.h"
#include "gui/live/live_session.h"
#include "gui/photo/document.h"
#include "inference/media/capture/camera.h"

namespace matte {

class Actions;
class Canvas;
class SourcePicker;
class StatusLine;

class LiveControl : public QObject {
    Q_OBJECT
    Q_DISABLE_COPY_MOVE(LiveControl)

public:
    struct Parts {
        const Actions& actions;
        Document& document;
        Canvas& canvas;
        SourcePicker& sources;
        StatusLine& status;
        Settings& settings;
    };
    LiveControl(const Parts& parts, LiveSession& session);

    /// Enters or leaves live mode; leaving turns the camera off.
    void setMode(Mode mode);
    [[nodiscard]] Mode mode() const { return parts_.settings.live.mode; }
    /// As Matte starts: a camera is a mirror. A photo has nothing to be mirrored: what the live source has stays.
    [[nodiscard]] bool mirroredAtFirst() const;
    void start();
    void stop();
    /// Takes over a source, and starts it at once when another one is on.
    void choose(const LiveSource& source);
    /// What is known about the engine before live mode has made its own.
    void showEngine(const EngineInfo& info);
    void setCameras(const std::vector<CameraInfo>& cameras);

Q_SIGNALS:
    /// start() was called: the window is to enter live mode at once.
    void starting();
    /// Live mode's own engine runs.
    void engineRuns(const matte::EngineInfo& info);
    /// What is remembered of live mode is another now.
    void changed();
    /// Pictures come, or no longer.
    void shownChanged(bool shown);

private:
    void connectPicture();
    void connectPerson();
    void showState();
    void statusChanged(const LiveStatus& status);
    void tellProblem(const LiveStatus& status);
    void tellAgain();
    void forgetProblem();
    void tellBackground(const LiveStatus& status);
    void tellEngine(const EngineInfo& info);
    void adoptMirror();
    void showFacts();
    [[nodiscard]] QString cameraText() const;
    void refresh();
    void setShown(bool shown);

    Parts parts_;
    LiveSession& session_;
    EngineInfo engine_;
    QTimer refresh_;
    QString problem_;                          ///< what the banner says of it; empty when all is well
    QString backgroundProblem_;                ///< the same of the video behind the person
    std::optional<std::string> engineReason_;  ///< EngineInfo's, of live mode's own engine; nothing before it is made
    bool sourceProblem_ = false;               ///< problem_ is of the source
    bool shown_ = false;
};

}  // namespace matte
