// SPDX-License-Identifier: Apache-2.0
#include "gui/live/live_control.h"

#include <chrono>

#include "gui/live/camera_light.h"
#include "gui/live/live_page.h"
#include "gui/live/source_picker.h"
#include "gui/panels/person_group.h"
#include "gui/timing/timing_overlay.h"
#include "gui/widgets/banner.h"
#include "gui/window/actions.h"
#include "gui/window/canvas.h"
#include "gui/window/status_line.h"
#include "gui/window/viewport.h"

namespace matte {
namespace {

constexpr std::chrono::milliseconds kRefresh{500};

}  // namespace

LiveControl::LiveControl(const Parts& parts, LiveSession& session) : parts_(parts), session_(session) {
    connectPicture();
    connectPerson();
    connect(&session_, &LiveSession::statusChanged, this, &LiveControl::statusChanged);
    connect(&parts_.sources, &SourcePicker::chosen, this, &LiveControl::choose);
    connect(parts_.actions[ActionId::live], &QAction::triggered, this, [this] { session_.isOn() ? stop() : start(); });
    connect(parts_.actions[ActionId::hidePerson], &QAction::toggled, this, [this](bool hidden) {
        session_.hidePerson(hidden);
        parts_.canvas.setPersonHidden(hidden);
    });
    connect(parts_.actions[ActionId::overlay], &QAction::toggled, this, [this](bool wanted) {
        parts_.settings.live.overlayVisible = wanted;
        session_.timeLayers(wanted);
        parts_.canvas.setTimingWanted(wanted);
        Q_EMIT changed();
    });
    connect(&parts_.canvas.banner(), &Banner::closed, this, &LiveControl::tellAgain);
    refresh_.setInterval(kRefresh);
    connect(&refresh_, &QTimer::timeout, this, &LiveControl::refresh);
}

void LiveControl::connectPicture() {
    Viewport& viewport = parts_.canvas.viewport();
    connect(&session_, &LiveSession::pictureChanged, this, [this, &viewport](const LiveSession::Live& live) {
        viewport.setLive(live);
        setShown(true);
    });
    connect(&viewport, &Viewport::livePresented, &session_, &LiveSession::presented);
    connect(&parts_.document, &Document::paramsChanged, this,
            [this](const CompositeParams& params) { session_.setParams(params); });
    connect(&parts_.document, &Document::mirrorTurned, this, [this](MirrorOf of, bool mirrored) {
        LiveSettings& live = parts_.settings.live;
        (of == MirrorOf::cameras ? live.mirrorCameras : live.mirrorOthers) = mirrored;
    });
}

void LiveControl::connectPerson() {
    Viewport& viewport = parts_.canvas.viewport();
    Document& document = parts_.document;
    connect(&viewport, &Viewport::personDragged, this, [&document](QPointF by) {
        document.edit(ParamControl::position,
                      [&](CompositeParams& params) { moveSubject(params.transform, by.x(), by.y()); });
    });
    connect(&viewport, &Viewport::personScaled, this, [&document](double factor) {
        document.edit(ParamControl::scale, [&](CompositeParams& params) { scaleSubject(params.transform, factor); });
    });
    connect(&viewport, &Viewport::personLetGo, &document, &Document::finishGesture);
}

void LiveControl::setMode(Mode mode) {
    if (mode == Mode::photo) stop();
    parts_.settings.live.mode = mode;
    parts_.canvas.viewport().setLiveMode(mode == Mode::live);
    parts_.canvas.setMode(mode);
    Q_EMIT changed();
    if (mode == Mode::photo) return;
    adoptMirror();
    showState();
}

/// A camera is a mirror unless the user said otherwise; a video is not.
void LiveControl::adoptMirror() {
    const LiveSettings& live = parts_.settings.live;
    CompositeParams params = parts_.document.params();
    const bool camera = live.source.isCamera();
    params.transform.mirrored = camera ? live.mirrorCameras : live.mirrorOthers;
    parts_.document.adopt(params, camera ? MirrorOf::cameras : MirrorOf::others);
}

bool LiveControl::mirroredAtFirst() const {
    if (mode() == Mode::photo) return parts_.document.params().transform.mirrored;
    return parts_.settings.live.source.isCamera() ? LiveSettings{}.mirrorCameras : LiveSettings{}.mirrorOthers;
}

void LiveControl::start() {
    Q_EMIT starting();
    forgetProblem();
    session_.setParams(parts_.document.params());
    session_.start(parts_.settings.live.source);
    parts_.canvas.timing().clear();
    showState();
}

void LiveControl::stop() {
    session_.stop();
    parts_.canvas.viewport().setLive(nullptr);
    setShown(false);
    showState();
}

void LiveControl::choose(const LiveSource& source) {
    const bool on = session_.isOn();
    parts_.settings.live.source = source;
    Q_EMIT changed();
    forgetProblem();
    parts_.canvas.banner().dismiss();
    if (mode() == Mode::live) adoptMirror();
    if (on) {
        start();
    } else {
        showState();
    }
}

void LiveControl::setShown(bool shown) {
    if (shown == shown_) return;
    shown_ = shown;
    parts_.canvas.setLiveShown(shown);
    Q_EMIT shownChanged(shown);
}

/// Everything that says whether somebody is being filmed.
void LiveControl::showState() {
    const bool on = session_.isOn();
    const LiveSource& source = parts_.settings.live.source;
    const LiveSource& captured = session_.captured();
    const bool capturing = session_.status().capturing;  // be it lost, or stopped and not closed yet
    QAction* action = parts_.actions[ActionId::live];
    action->setText(on ? tr("&Stop") : tr("&Start"));
    action->setIconText(" " + (on ? tr("Stop") : tr("Start")));
    action->setChecked(on);
    parts_.sources.showSource(source);
    parts_.canvas.light().showCapturing(capturing ? nameOf(captured) : QString(), captured.isCamera());
    parts_.canvas.livePage().showStage(session_.stage(), nameOf(source));
    parts_.canvas.arrange();
    showFacts();
    if (on) {
        refresh_.start();
    } else {
        refresh_.stop();
    }
    refresh();
}

void LiveControl::statusChanged(const LiveStatus& status) {
    if (!status.engine.name.empty()) {
        showEngine(status.engine);
        tellEngine(status.engine);
        Q_EMIT engineRuns(status.engine);
    }
    tellBackground(status);
    tellProblem(status);
    showState();
}

void LiveControl::tellProblem(const LiveStatus& status) {
    const std::string& ours = status.engineProblem.empty() ? status.matteProblem : status.engineProblem;
    const std::string& sentence = status.sourceProblem.empty() ? ours : status.sourceProblem;
    const QString problem = QString::fromStdString(sentence);
    if (problem == problem_) return;
    Banner& banner = parts_.canvas.banner();
    if (!problem.isEmpty()) {
        banner.showError(problem);
    } else if (banner.isVisible() && banner.text() == problem_) {
        banner.dismiss();
        if (sourceProblem_ && status.state == LiveStatus::State::running)
            banner.showDone(tr("%1 is back.").arg(nameOf(session_.source())));
    }
    problem_ = problem;
    sourceProblem_ = !status.sourceProblem.empty();
}

/// What still is wrong, when something else stood before it: only closing its own message is an answer to it.
void LiveControl::tellAgain() {
    Banner& banner = parts_.canvas.banner();
    if (!problem_.isEmpty() && banner.text() != problem_) banner.showError(problem_);
}

/// What goes wrong from now on is told, be it the same as before.
void LiveControl::forgetProblem() {
    Banner& banner = parts_.canvas.banner();
    if (!problem_.isEmpty() && banner.text() == problem_) banner.dismiss();
    problem_.clear();
}

/// Said once: the video's last picture goes on standing there.
void LiveControl::tellBackground(const LiveStatus& status) {
    const QString problem = QString::fromStdString(status.backgroundProblem);
    if (problem == backgroundProblem_) return;
    if (!problem.isEmpty()) parts_.canvas.banner().showError(problem);
    backgroundProblem_ = problem;
}

/// Said once: why live became slower. Not what was so from the beginning, which the page before the start says.
void LiveControl::tellEngine(const EngineInfo& info) {
    if (engineReason_ && engineReason_->empty() && !info.reason.empty()) {
        parts_.canvas.banner().showError(
            tr("%1 The processor goes on in its place, which is slower.").arg(QString::fromStdString(info.reason)));
    }
    engineReason_ = info.reason;
}

void LiveControl::showEngine(const EngineInfo& info) {
    engine_ = info;
    if (mode() == Mode::live) parts_.status.showEngine(info);
    showFacts();
}

void LiveControl::setCameras(const std::vector<CameraInfo>& cameras) {
    parts_.sources.setCameras(cameras);
    session_.retrySource();  // it may be the one that was lost
    showFacts();
}

void LiveControl::showFacts() {
    QList<Fact> facts;
    const auto& cameras = parts_.sources.cameras();
    if (cameras.empty()) {
        facts.append({false, tr("No camera was found. Plug one in and it appears here by itself, or use a video.")});
    } else {
        QStringList names;
        for (const CameraInfo& camera : cameras) names.append(QString::fromStdString(camera.name));
        facts.append({true, tr("Cameras: %1.").arg(names.join(", "))});
    }
    if (!engine_.name.empty()) {
        const QString name = QString::fromStdString(engine_.name), reason = QString::fromStdString(engine_.reason);
        if (engine_.kind == EngineKind::cuda) {
            facts.append({true, tr("The graphics card does the work: %1.").arg(name)});
        } else {
            facts.append({false, tr("The processor does the work: %1. %2").arg(name, reason).trimmed()});
        }
    }
    facts.append({true, (cameraText() + " " + tr("Nothing leaves this computer.")).trimmed()});
    parts_.canvas.livePage().showFacts(facts);
}

/// Nothing while it is on: the light says so.
QString LiveControl::cameraText() const {
    switch (session_.stage()) {
        case LiveStage::closing:
            if (session_.captured().isCamera()) return tr("The camera is being turned off.");
            [[fallthrough]];
        case LiveStage::off: return tr("The camera is off until you start it.");
        default: return {};
    }
}

void LiveControl::refresh() {
    if (mode() != Mode::live) return;
    if (!session_.isOn() || !session_.newest()) {
        return parts_.status.showStage(session_.stage(), parts_.settings.live.source);
    }
    LiveStatus status = session_.status();
    // What a source says of itself may be older than its frames.
    status.source.size = session_.newest()->picture->size();
    parts_.status.showLive(status, session_.statistics());
}

}  // namespace matte
