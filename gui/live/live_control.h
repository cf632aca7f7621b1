// SPDX-License-Identifier: Apache-2.0
// LiveControl: live mode in the window. Shows the chosen source's pictures on the canvas and sends them to the virtual
// camera, tells problems in the banner and the speed in the status line. GUI thread.
#pragma once

#include <QObject>
#include <QTimer>

#include <optional>
#include <string>
#include <vector>

#include "gui/app/settings.h"
#include "gui/live/camera_feed.h"
#include "gui/live/engine_picker.h"
#include "gui/live/live_report.h"
#include "gui/live/live_session.h"
#include "gui/photo/document.h"
#include "inference/media/capture/camera_list.h"

namespace matte {

class Actions;
class Canvas;
class StatusLine;
class WindowBars;

class LiveControl : public QObject {
    Q_OBJECT
    Q_DISABLE_COPY_MOVE(LiveControl)

public:
    struct Parts {
        const Actions& actions;
        Document& document;
        Canvas& canvas;
        WindowBars& bars;
        StatusLine& status;
        Settings& settings;
        std::shared_ptr<baselines::ImplementationSwitch> implementations;  ///< of the session; null: without a choice
        EnginePicker::EnginesFor enginesFor;                               ///< empty: without a choice
        EngineChoice engine;                                               ///< of the session
        CameraFeed::Open openVirtualCamera;
    };
    LiveControl(const Parts& parts, LiveSession& session, QWidget* window);

    /// Enters or leaves live mode; leaving turns the camera off.
    void setMode(Mode mode);
    [[nodiscard]] Mode mode() const { return parts_.settings.live.mode; }
    /// The default of SubjectTransform::mirrored: a camera is a mirror. In photo mode it is the present value.
    [[nodiscard]] bool mirroredAtFirst() const;
    void start();
    void stop();
    /// Takes over a source. It starts at once when another one is on.
    void choose(const LiveSource& source);
    /// Chooses the source that `text` names, as parseSource() reads it, and starts it. Empty text does nothing.
    void play(const QString& text);
    /// The engine of the photos, until live mode has made its own.
    void showPhotoEngine(const EngineInfo& info);
    void setCameras(const std::vector<CameraInfo>& cameras);
    /// Follows the system's list of cameras from now on.
    void watchCameras();
    /// Some program reads from the virtual camera, or whether one does is not known.
    [[nodiscard]] bool isWatched() const { return feed_.isWatched(); }
    [[nodiscard]] EnginePicker& engines() { return engines_; }
    /// The live run so far.
    [[nodiscard]] LiveReport report() const;
    /// What the program holds of the system now.
    [[nodiscard]] Footprint footprint() const;

Q_SIGNALS:
    /// start() was called: the window is to enter live mode at once.
    void starting();
    /// Live mode's own engine runs.
    void engineRuns(const matte::EngineInfo& info);
    /// Other settings of live mode are to be remembered.
    void changed();
    /// Whether pictures are shown.
    void shownChanged(bool shown);

protected:
    bool eventFilter(QObject* object, QEvent* event) override;

private:
    void connectPicture();
    void connectPerson();
    void connectActions(QWidget* window);
    void connectFeed();
    void showEngine(const EngineInfo& info);
    void showState();
    void statusChanged(const LiveStatus& status);
    void tellProblem(const LiveStatus& status);
    void tellAgain();
    void forgetProblem();
    void tellBackground(const LiveStatus& status);
    void tellEngine(const EngineInfo& info);
    void adoptMirror();
    void showFacts();
    void refresh();
    void setShown(bool shown);

    Parts parts_;
    LiveSession& session_;
    CameraFeed feed_;
    EnginePicker engines_;
    EngineInfo engine_;
    QTimer refresh_;
    QString problem_;                          ///< what the banner says of it; empty when all is well
    QString backgroundProblem_;                ///< the same of the video behind the person
    std::optional<std::string> engineReason_;  ///< EngineInfo's, of live mode's own engine; nothing before it is made
    bool sourceProblem_ = false;               ///< problem_ is of the source
    bool shown_ = false;
    std::unique_ptr<CameraList> cameras_;  ///< last: it calls until its end
};

}  // namespace matte
