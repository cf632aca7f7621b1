// SPDX-License-Identifier: Apache-2.0
#include "gui/live/live_control.h"

#include <QApplication>
#include <QKeyEvent>

#include <algorithm>
#include <chrono>

#include "gui/app/file_dialogs.h"
#include "gui/live/camera_light.h"
#include "gui/live/live_page.h"
#include "gui/live/source_picker.h"
#include "gui/panels/implementation_row.h"
#include "gui/timing/timing_overlay.h"
#include "gui/widgets/banner.h"
#include "gui/window/actions.h"
#include "gui/window/canvas.h"
#include "gui/window/status_line.h"
#include "gui/window/viewport.h"
#include "gui/window/window_bars.h"

namespace matte {
namespace {

constexpr std::chrono::milliseconds kRefresh{500};
constexpr float kLeastScale = 0.25F, kMostScale = 4;  // as SubjectTransform allows

}  // namespace

LiveControl::LiveControl(const Parts& parts, LiveSession& session, QWidget* window)
    : QObject(window),
      parts_(parts),
      session_(session),
      feed_(parts.openVirtualCamera),
      engines_(session, parts.bars.models(), parts.bars.precisions(), parts.enginesFor, parts.engine) {
    connectPicture();
    connectPerson();
    connectActions(window);
    connectFeed();
    Banner& banner = parts_.canvas.banner();
    connect(&session_, &LiveSession::statusChanged, this, &LiveControl::statusChanged);
    connect(&parts_.bars.sources(), &SourcePicker::chosen, this, &LiveControl::choose);
    connect(&engines_, &EnginePicker::failed, &banner, &Banner::showError);
    connect(&banner, &Banner::closed, this, &LiveControl::tellAgain);
    refresh_.setInterval(kRefresh);
    connect(&refresh_, &QTimer::timeout, this, &LiveControl::refresh);
    parts_.canvas.timing().setReport([this] { return report(); });
    if (parts_.implementations) {
        auto* row = new ImplementationRow(parts_.implementations);
        connect(row, &ImplementationRow::failed, &banner, &Banner::showError);
        parts_.canvas.timing().setFooter(row);
    }
    qApp->installEventFilter(this);
}

void LiveControl::connectActions(QWidget* window) {
    const Actions& actions = parts_.actions;
    const auto on = [&](ActionId id, auto slot) { connect(actions[id], &QAction::triggered, this, slot); };
    QString& folder = parts_.settings.live.videoFolder;
    on(ActionId::live, [this] { session_.isOn() ? stop() : start(); });
    on(ActionId::useVideo, [this, window, &folder] { play(askForVideo(window, folder)); });
    on(ActionId::useFolder, [this, window, &folder] { play(askForFolder(window, folder)); });
    on(ActionId::useAddress, [this, window] { play(askForAddress(window)); });
    connect(actions[ActionId::hidePerson], &QAction::toggled, this, [this](bool hidden) {
        session_.hidePerson(hidden);
        parts_.canvas.setPersonHidden(hidden);
    });
    connect(actions[ActionId::overlay], &QAction::toggled, this, [this](bool wanted) {
        parts_.settings.live.overlayVisible = wanted;
        session_.timeLayers(wanted);
        parts_.canvas.setTimingWanted(wanted);
        Q_EMIT changed();
    });
}

/// The virtual camera has the window's picture while one is shown.
void LiveControl::connectFeed() {
    QAction* action = parts_.actions[ActionId::virtualCamera];
    connect(&session_, &LiveSession::pictureChanged, this, [this](const LiveSession::Live& live) {
        if (feed_.isOn()) feed_.setPicture(live);
    });
    connect(this, &LiveControl::shownChanged, this, [this](bool shown) {
        if (!shown) feed_.setPicture(nullptr);
    });
    connect(action, &QAction::toggled, this, [this](bool on) {
        feed_.setPicture(on && shown_ ? session_.newest() : nullptr);
        if (!on) return feed_.stop();
        feed_.start();
    });
    connect(&feed_, &CameraFeed::started, this, [this](const QStringList& names) {
        const QString mirrored = parts_.document.params().transform.mirrored
                                     ? tr(" You are mirrored there, too: M turns that off.")
                                     : QString();
        parts_.canvas.banner().showDone(
            tr("Other programs can choose this picture now, as the camera “%1”.").arg(names.join(tr("” or “"))) +
            mirrored);
    });
    connect(&feed_, &CameraFeed::failed, this, [this, action](const QString& sentence) {
        action->setChecked(false);
        parts_.canvas.banner().showError(sentence);
    });
}

/// The panic key, which Qt does not give to a window behind a dialog or an open menu.
bool LiveControl::eventFilter(QObject* object, QEvent* event) {
    const bool covered = QApplication::activeModalWidget() || QApplication::activePopupWidget();
    if (event->type() != QEvent::KeyPress || !covered) return QObject::eventFilter(object, event);
    const auto& key = static_cast<const QKeyEvent&>(*event);
    QAction* hide = parts_.actions[ActionId::hidePerson];
    const bool isPanic = hide->isEnabled() && hide->shortcut() == QKeySequence(key.key() | key.modifiers());
    if (!isPanic || key.isAutoRepeat()) return QObject::eventFilter(object, event);
    hide->toggle();
    return true;
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
        document.edit(ParamControl::position, [&](CompositeParams& params) {
            SubjectTransform& transform = params.transform;
            transform.x = std::clamp(transform.x + float(by.x()), -1.0F, 1.0F);
            transform.y = std::clamp(transform.y + float(by.y()), -1.0F, 1.0F);
        });
    });
    connect(&viewport, &Viewport::personScaled, this, [&document](double factor) {
        document.edit(ParamControl::scale, [&](CompositeParams& params) {
            params.transform.scale = std::clamp(params.transform.scale * float(factor), kLeastScale, kMostScale);
        });
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

void LiveControl::play(const QString& text) {
    if (text.isEmpty()) return;
    try {
        LiveSource source;
        source.spec = parseSource(text.toStdString());
        choose(source);
        if (!session_.isOn()) start();
    } catch (const Error& error) {
        parts_.canvas.banner().showError(QString::fromStdString(error.what()));
    }
}

LiveReport LiveControl::report() const {
    LiveReport report{session_.status(), session_.statistics(), parts_.canvas.viewport().presentFacts(),
                      parts_.canvas.timing().cost()};
    if (parts_.implementations) report.implementation = parts_.implementations->status();
    return report;
}

Footprint LiveControl::footprint() const {
    Footprint now = footprintNow(session_.framesPresented());
    now.glObjects = parts_.canvas.viewport().glObjects();
    return now;
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
    parts_.bars.sources().showSource(source);
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

void LiveControl::showPhotoEngine(const EngineInfo& info) {
    if (session_.status().engine.name.empty()) showEngine(info);
}

void LiveControl::showEngine(const EngineInfo& info) {
    engine_ = info;
    if (mode() == Mode::live) parts_.status.showEngine(info);
    showFacts();
}

void LiveControl::setCameras(const std::vector<CameraInfo>& cameras) {
    parts_.bars.sources().setCameras(cameras);
    session_.retrySource();  // it may be the one that was lost
    showFacts();
}

void LiveControl::watchCameras() {
    const auto show = [this] { setCameras(cameras_->cameras()); };
    cameras_ =
        std::make_unique<CameraList>([this, show] { QMetaObject::invokeMethod(this, show, Qt::QueuedConnection); });
    show();
}

void LiveControl::showFacts() {
    QList<Fact> facts;
    const auto& cameras = parts_.bars.sources().cameras();
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
    const LiveStage stage = session_.stage();
    const bool closes = stage == LiveStage::closing && session_.captured().isCamera();
    const QString camera = stage > LiveStage::closing ? QString()  // the light says that it is on
                           : closes                   ? tr("The camera is being turned off.")
                                                      : tr("The camera is off until you start it.");
    facts.append({true, (camera + " " + tr("Nothing leaves this computer.")).trimmed()});
    parts_.canvas.livePage().showFacts(facts);
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
