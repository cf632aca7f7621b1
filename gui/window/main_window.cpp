// SPDX-License-Identifier: Apache-2.0
#include "gui/window/main_window.h"

#include <QApplication>
#include <QClipboard>
#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QUrl>

#include <algorithm>
#include <cmath>

#include "gui/app/incoming.h"
#include "gui/app/settings_file.h"
#include "gui/live/camera_feed.h"
#include "gui/live/live_control.h"
#include "gui/live/profiles.h"
#include "gui/live/snapshots.h"
#include "gui/live/video_exporter.h"
#include "gui/panels/live_group.h"
#include "gui/panels/param_keys.h"
#include "gui/panels/params_panel.h"
#include "gui/timing/timing_overlay.h"
#include "gui/widgets/banner.h"
#include "gui/widgets/progress_pill.h"
#include "gui/window/canvas.h"
#include "gui/window/compact_window.h"
#include "gui/window/status_line.h"
#include "gui/window/viewport.h"
#include "gui/window/window_bars.h"
#include "inference/core/atomic_file.h"
#include "inference/core/error.h"
#include "inference/media/background_file.h"
#include "inference/media/image/image_file.h"
#include "inference/model/default_model.h"

namespace matte {
namespace {

constexpr QSize kFirstSize{1180, 760}, kFrame{8, 40};  // which the desktop draws around it
constexpr int kSideStep = 64;  // so that a window that is being resized does not ask for every size in between

// How large a picture the view can make use of: as the fitted view shows it, or all of it when more than that is seen.
int usefulSide(Size photo, const Viewport& viewport) {
    const Size pixels = viewport.pixelSize();
    const double fitted = std::min(double(pixels.width) / photo.width, double(pixels.height) / photo.height);
    const int side = (int(photo.longest() * std::min(fitted, 1.0)) / kSideStep + 1) * kSideStep;
    return viewport.zoom() * photo.longest() > side ? photo.longest() : std::min(side, photo.longest());
}

}  // namespace

MainWindow::MainWindow(const PhotoSession::EngineFactory& makeEngine, QSettings& store, const Startup& startup)
    : settings_(Settings::load(store, damaged_)),
      actions_(this),
      session_(makeEngine),
      bars_(new WindowBars(*this, actions_)),
      canvas_(new Canvas(actions_)),
      panel_(new ParamsPanel(document_, actions_[ActionId::resetParams])),
      status_(new StatusLine),
      implementations_(startup.implementations),
      live_(startup.makeLiveEngines, startup.open),
      liveControl_(new LiveControl({actions_, document_, *canvas_, bars_->sources(), *status_, settings_}, live_)),
      keys_(new ParamKeys(document_, actions_, this)),
      profiles_(new Profiles(settings_.live.profiles, this)),
      snapshots_(new Snapshots(live_, this)),
      feed_(new CameraFeed(
          startup.openVirtualCamera ? startup.openVirtualCamera
                                    : [](const std::stop_token& stop) { return openVirtualCamera(stop); },
          this)),
      exporter_(new VideoExporter(startup.makeVideoEngines, this)),
      compact_(new CompactWindow(*this, bars_->parts() + QList<QWidget*>{panel_, status_}, canvas_->viewport())),
      models_(startup.models) {
    if (startup.keepSettings) {
        settingsFile_ = std::make_unique<SettingsFile>(
            store, [this] { return settingsNow(); }, damaged_.isEmpty() ? std::optional(settings_) : std::nullopt);
    }
    liveControl_->setParent(this);
    canvas_->viewport().allowInterop(startup.interop);
    arrange();
    connectSession();
    connectFiles();
    connectView();
    connectParams();
    connectLive();
    connectRecords();
    connectFeed();
    connectProfiles();
    connectExporter();
    session_.prepare();
    restoreSettings(startup.background);
    connectSettings();
    if (startup.watchCameras) watchCameras();
    qApp->installEventFilter(this);
}

// The widgets speak to the members, which would be gone before a base class deletes its children.
MainWindow::~MainWindow() {
    live_.stop();
    disconnect(&document_.undoStack(), nullptr, this, nullptr);  // which speaks until its end
    delete feed_;
    delete liveControl_;
    delete exporter_;
    delete takeCentralWidget();
}

void MainWindow::arrange() {
    setWindowTitle("Matte");
    setAcceptDrops(true);
    auto* body = new QWidget;
    auto* row = new QHBoxLayout(body);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    row->addWidget(canvas_, 1);
    row->addWidget(panel_);
    setCentralWidget(body);
    setStatusBar(status_);
    resize(kFirstSize.boundedTo(screen()->availableSize() - kFrame));
    canvas_->viewport().setFocus();
}

void MainWindow::restoreSettings(const std::optional<Background>& background) {
    CompositeParams params = settings_.params;
    if (background) params.background = *background;
    const bool picture = params.background.kind == Background::Kind::image;
    if (picture) params.background.kind = Background::Kind::color;  // until it was read: nothing of the room
    document_.resetParams(params);
    if (picture) {
        standIn_ = params.background;
        awaitPicture({.path = params.background.imagePath});
    }
    restoreGeometry(settings_.geometry);
    if (!isMaximized() && !isFullScreen()) resize(size().boundedTo(screen()->availableSize()));
    theme_.setChoice(settings_.theme);
    bars_->showRecent(settings_.recentFiles);
    actions_[ActionId::panel]->setChecked(settings_.panelVisible);
    actions_[ActionId::split]->setChecked(settings_.splitVisible);
    panel_->setVisible(settings_.panelVisible);
    canvas_->viewport().setSplitVisible(settings_.splitVisible);
    actions_[ActionId::fullScreen]->setChecked(isFullScreen());
    bars_->showProfiles(settings_.live.profiles);
    setMode(settings_.live.mode);
    actions_[ActionId::overlay]->setChecked(settings_.live.overlayVisible);
}

void MainWindow::openPhoto(const PhotoSource& source) {
    photoAwaited_ = true;
    session_.open(source);
}

void MainWindow::photoOpened(const OpenedPhoto& photo) {
    document_.setPhoto(photo);
    requested_.reset();
    canvas_->hideWelcome();
    canvas_->viewport().setPhoto(photo.preview, photo.image->size());
    if (photoAwaited_ || liveControl_->mode() == Mode::photo) {
        canvas_->banner().dismiss();
        setMode(Mode::photo);
    } else {
        canvas_->banner().showDone(tr("%1 is open, under Photo.").arg(photo.name));
    }
    showContext();
    bars_->showZoom(canvas_->viewport().zoom());
    if (liveControl_->mode() == Mode::photo) status_->showPhoto(photo);
    if (!photo.path.isEmpty()) {
        settings_.addRecent(QFileInfo(photo.path).absoluteFilePath());
        bars_->showRecent(settings_.recentFiles);
        if (settingsFile_) settingsFile_->note();
    }
    setShowing(Showing::result);
    requestRender();
}

/// A photo is what it is: only live pictures are mirrored.
CompositeParams MainWindow::photoParams() const {
    CompositeParams params = document_.params();
    params.transform.mirrored = false;
    return params;
}

void MainWindow::setMode(Mode mode) {
    const bool photo = mode == Mode::photo;
    photoAwaited_ = photoAwaited_ && photo;
    if (photo) actions_[ActionId::corner]->setChecked(false);
    if (photo && isFullScreen()) compact_->setFullScreen(true, false);
    liveControl_->setMode(mode);
    bars_->setMode(mode);
    panel_->setMode(mode);
    setShowing(Showing::result);
    showContext();
    if (!photo) return;
    if (document_.isOpen()) {
        status_->showPhoto(document_.photo());
    } else {
        status_->clearPhoto();
    }
    status_->showEngine(engine_);
}

void MainWindow::showContext() {
    const QUndoStack& steps = document_.undoStack();
    const EngineInfo& engine = live_.status().engine;
    actions_.setContext({.mode = liveControl_->mode(),
                         .photo = document_.isOpen(),
                         .livePicture = canvas_->liveShown(),
                         .fineDetail = engine.name.empty() || engine.fineDetail,
                         .profiles = !settings_.live.profiles.isEmpty(),
                         .writesVideo = exporter_->isBusy(),
                         .canUndo = steps.canUndo(),
                         .canRedo = steps.canRedo()});
    const bool live = liveControl_->mode() == Mode::live;
    setWindowTitle(live                 ? tr("Live — Matte")
                   : document_.isOpen() ? tr("%1 — Matte").arg(document_.photo().name)
                                        : tr("Matte"));
}

void MainWindow::requestRender() {
    if (!document_.isOpen() || liveControl_->mode() == Mode::live) return;
    const Size photo = document_.photo().image->size();
    const RenderRequest request{photoParams(), showing_, usefulSide(photo, canvas_->viewport())};
    if (request == requested_) return;
    requested_ = request;
    session_.show(request);
}

void MainWindow::pictureRendered(const Rendered& picture) {
    const OpenedPhoto& photo = document_.photo();
    if (!document_.isOpen() || picture.request.showing != showing_) return;
    if (liveControl_->mode() == Mode::live) return requested_.reset();  // it is asked for again later
    if (picture.image->size().longest() > photo.preview->size().longest()) {
        canvas_->viewport().setBefore(photo.image);
    }
    canvas_->viewport().setAfter(picture.image);
    status_->showComposite(picture);
}

void MainWindow::setShowing(Showing showing) {
    showing_ = showing;
    bars_->showView(showing);
    canvas_->viewport().setOriginalHeld(showing == Showing::original);
    canvas_->setAfterName(showing == Showing::result ? tr("After") : viewName(showing));
    canvas_->setViewName(showing == Showing::result ? QString()
                                                    : tr("%1   F for the next view").arg(viewName(showing)));
    requestRender();
}

void MainWindow::exportTo(const QString& path, int photo) {
    try {
        refuseReplacing(path.toStdString(), filesRead());
        session_.exportTo(path, photoParams(), photo);
    } catch (const Error& error) {
        canvas_->banner().showError(QString::fromStdString(error.what()));
    }
}

void MainWindow::pictureExported(const QString& path) {
    const QString name = QFileInfo(path).fileName();
    const bool flattened = document_.params().background.kind == Background::Kind::transparent &&
                           (name.endsWith(".jpg", Qt::CaseInsensitive) || name.endsWith(".jpeg", Qt::CaseInsensitive));
    canvas_->banner().showDone(flattened
                                   ? tr("Saved %1. JPEG has no transparency, so white is behind the person.").arg(name)
                                   : tr("Saved %1.").arg(name),
                               path);
}

void MainWindow::copy(bool withBackground) {
    CompositeParams params = photoParams();
    if (!withBackground) params.background.kind = Background::Kind::transparent;
    session_.copy(params, document_.photo().number);
}

void MainWindow::take(const QMimeData& incoming) {
    try {
        const QList<QUrl> urls = incoming.urls();
        if (urls.size() > 1) {
            throw Error(ErrorCategory::input,
                        "Matte opens one file at a time; matte-cli image takes as many photos as you like.");
        }
        const bool file = urls.size() == 1 && urls.first().isLocalFile();
        const QString path = file ? urls.first().toLocalFile() : QString();
        if (file && liveControl_->mode() == Mode::live) return takeLive(path);
        if (file && hasVideoExtension(path.toStdString())) return setBackgroundPicture(path);
        openPhoto(photoFrom(incoming));
    } catch (const Error& error) {
        canvas_->banner().showError(QString::fromStdString(error.what()));
    }
}

/// In live mode a picture goes behind the person; whatever else is dropped is played. A video that is to go behind is
/// dropped on the panel.
void MainWindow::takeLive(const QString& file) {
    if (hasImageExtension(file.toStdString())) {
        setBackgroundPicture(file);
    } else {
        goLive(file);
    }
}

void MainWindow::goLive(const QString& text) {
    if (text.isEmpty()) return;
    try {
        LiveSource source;
        source.spec = parseSource(text.toStdString());
        liveControl_->choose(source);
        if (!live_.isOn()) liveControl_->start();
    } catch (const Error& error) {
        canvas_->banner().showError(QString::fromStdString(error.what()));
    }
}

LiveReport MainWindow::report() const {
    LiveReport report{live_.status(), live_.statistics(), canvas_->viewport().presentFacts(), canvas_->timing().cost()};
    report.implementation = implementationStatus();
    return report;
}

void MainWindow::openSample() {
    try {
        openPhoto(PhotoSource::fromFile(QString::fromStdString(dataFile("samples/astronaut.png").string())));
    } catch (const Error& error) {
        canvas_->banner().showError(QString::fromStdString(error.what()));
    }
}

void MainWindow::cancel() {
    if (!endExport(tr("The video is not finished. Give it up?"))) return;
    session_.cancel();
    giveUpPicture();
}

void MainWindow::cancelOrClose() {
    if (canvas_->progress().isBusy()) {
        cancel();
    } else if (canvas_->banner().isVisible()) {
        canvas_->banner().acknowledge();
    } else if (compact_->inCorner()) {
        actions_[ActionId::corner]->trigger();
    } else if (isFullScreen()) {
        actions_[ActionId::fullScreen]->trigger();
    }
}

void MainWindow::showAbout() {
    QMessageBox::about(
        this, tr("About Matte"),
        tr("<h3>Matte %1</h3><p>Replaces what is behind a person. Nothing leaves this computer.</p>"
           "<p>Engine: %2</p>")
            .arg(MATTE_VERSION,
                 engine_.name.empty() ? tr("none yet") : QString::fromStdString(engine_.name).toHtmlEscaped()));
}

/// What is to be remembered.
Settings MainWindow::settingsNow() {
    settings_.geometry = compact_->geometry();
    settings_.params = wantedParams();
    settings_.theme = theme_.choice();
    settings_.panelVisible = actions_[ActionId::panel]->isChecked();
    settings_.splitVisible = actions_[ActionId::split]->isChecked();
    return settings_;
}

void MainWindow::closeNow() {
    closesNow_ = true;
    if (isVisible()) close();
}

/// Asks whoever closes the window about what others lose by it.
bool MainWindow::mayClose() {
    const auto maySpoilTheVideo = [&] {
        return endExport(tr("The video is not finished. Close Matte and give it up?"));
    };
    if (!feed_->isWatched()) return maySpoilTheVideo();
    QMessageBox box(QMessageBox::Question, tr("Matte is a camera now"),
                    tr("Other programs see this camera. Close Matte?"), QMessageBox::NoButton, this);
    const QAbstractButton* close = box.addButton(tr("Close Matte"), QMessageBox::AcceptRole);
    QPushButton* keep = box.addButton(tr("Keep It Open"), QMessageBox::RejectRole);
    box.setDefaultButton(keep);
    box.setEscapeButton(keep);
    box.exec();
    // The session may have ended meanwhile, which needs no answer.
    return closesNow_ || (box.clickedButton() == close && maySpoilTheVideo());
}

void MainWindow::closeEvent(QCloseEvent* event) {
    if (closesNow_) exporter_->cancel();
    // The desktop's close button and keys. Who ends the session, or the program, waits for no answer.
    if (event->spontaneous() && !closesNow_ && !mayClose()) return event->ignore();
    session_.cancel();
    actions_[ActionId::trace]->setChecked(false);
    if (implementations_) implementations_->makeWay();
    liveControl_->stop();
    actions_[ActionId::virtualCamera]->setChecked(false);
    if (settingsFile_) settingsFile_->write();
    event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (!mayHoldPhoto(*event->mimeData())) return;
    event->acceptProposedAction();
    canvas_->setDropActive(true);
}

void MainWindow::dragLeaveEvent(QDragLeaveEvent*) {
    canvas_->setDropActive(false);
}

void MainWindow::dropEvent(QDropEvent* event) {
    canvas_->setDropActive(false);
    event->acceptProposedAction();
    take(*event->mimeData());
}

void MainWindow::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Space && !event->isAutoRepeat() && liveControl_->mode() == Mode::live) {
        return actions_[ActionId::live]->trigger();
    }
    if (event->key() != Qt::Key_O || event->modifiers()) return QMainWindow::keyPressEvent(event);
    canvas_->viewport().setOriginalHeld(true);
}

void MainWindow::keyReleaseEvent(QKeyEvent* event) {
    if (event->key() != Qt::Key_O || event->isAutoRepeat()) return QMainWindow::keyReleaseEvent(event);
    canvas_->viewport().setOriginalHeld(showing_ == Showing::original);
}

bool MainWindow::event(QEvent* event) {
    // A key that is let go in another window is not reported here.
    if (event->type() == QEvent::WindowDeactivate) canvas_->viewport().setOriginalHeld(showing_ == Showing::original);
    const bool moved = event->type() == QEvent::Move || event->type() == QEvent::Resize;
    if (settingsFile_ && (moved || event->type() == QEvent::WindowStateChange)) settingsFile_->note();
    return QMainWindow::event(event);
}

}  // namespace matte
