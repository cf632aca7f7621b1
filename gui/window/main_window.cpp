// SPDX-License-Identifier: Apache-2.0
#include "gui/window/main_window.h"

#include <QApplication>
#include <QClipboard>
#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QToolBar>
#include <QUrl>

#include "gui/app/file_dialogs.h"
#include "gui/app/settings_file.h"
#include "gui/live/live_control.h"
#include "gui/live/profiles.h"
#include "gui/live/recorder.h"
#include "gui/live/video_exporter.h"
#include "gui/panels/params_panel.h"
#include "gui/photo/background_chooser.h"
#include "gui/photo/photo_control.h"
#include "gui/widgets/banner.h"
#include "gui/widgets/choice_menu.h"
#include "gui/widgets/progress_pill.h"
#include "gui/window/canvas.h"
#include "gui/window/compact_window.h"
#include "gui/window/shortcuts_dialog.h"
#include "gui/window/status_line.h"
#include "gui/window/tool_row.h"
#include "gui/window/viewport.h"
#include "gui/window/window_bars.h"
#include "inference/core/error.h"
#include "inference/media/background_file.h"
#include "inference/media/image/image_file.h"

namespace matte {
namespace {

constexpr QSize kFirstSize{1180, 760}, kFrame{8, 40};  // which the desktop draws around it

}  // namespace

MainWindow::MainWindow(const PhotoSession::EngineFactory& makeEngine, QSettings& store, const Startup& startup)
    : settings_(Settings::load(store, damaged_)),
      actions_(this),
      session_(makeEngine),
      bars_(new WindowBars(*this, actions_)),
      canvas_(new Canvas(actions_)),
      panel_(new ParamsPanel(document_, actions_)),
      status_(new StatusLine),
      implementations_(startup.implementations),
      live_(startup.makeLiveEngines, startup.open),
      backgrounds_(new BackgroundChooser(document_, session_, this)),
      photos_(new PhotoControl(
          {actions_, document_, session_, *canvas_, *bars_, *status_, settings_, [this] { return filesRead(); }},
          this)),
      liveControl_(new LiveControl(
          {actions_, document_, *canvas_, *bars_, *status_, settings_, implementations_, startup.enginesFor,
           startup.engine, startup.openVirtualCamera ? startup.openVirtualCamera : openVirtualCamera},
          live_,
          this)),
      profiles_(new Profiles(settings_.live.profiles, this)),
      recorder_(new Recorder({actions_, live_, canvas_->banner(), settings_,
                              [this] {
                                  LiveReport report = liveControl_->report();
                                  report.footprints = {liveControl_->footprint()};
                                  return report;
                              },
                              [this] { return filesRead(); }},
                             this)),
      exporter_(new VideoExporter(startup.makeVideoEngines, this)),
      compact_(new CompactWindow(*this, {menuBar(), bars_->toolBar(), panel_, status_}, canvas_->viewport())),
      models_(startup.models) {
    if (startup.keepSettings) {
        settingsFile_ = std::make_unique<SettingsFile>(
            store, [this] { return settingsNow(); }, settings_, damaged_);
    }
    canvas_->viewport().allowInterop(startup.interop);
    arrange();
    connectModes();
    connectWindow();
    connectParams();
    connectProfiles();
    connectExporter();
    session_.prepare();
    restoreSettings(startup.background);
    connectSettings();
    if (startup.watchCameras) liveControl_->watchCameras();
    qApp->installEventFilter(this);
}

// The widgets speak to the members, which would be gone before a base class deletes its children.
MainWindow::~MainWindow() {
    live_.stop();
    disconnect(&document_.undoStack(), nullptr, this, nullptr);  // which speaks until its end
    delete recorder_;
    delete liveControl_;
    delete photos_;
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
    backgrounds_->restore(params);
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

Settings MainWindow::settingsNow() {
    settings_.geometry = compact_->geometry();
    settings_.params = backgrounds_->wantedParams();
    settings_.theme = theme_.choice();
    settings_.panelVisible = actions_[ActionId::panel]->isChecked();
    settings_.splitVisible = actions_[ActionId::split]->isChecked();
    return settings_;
}

void MainWindow::connectModes() {
    connect(actions_[ActionId::photoMode], &QAction::triggered, this, [this] { setMode(Mode::photo); });
    connect(actions_[ActionId::liveMode], &QAction::triggered, this, [this] { setMode(Mode::live); });
    connect(photos_, &PhotoControl::wanted, this, [this] { setMode(Mode::photo); });
    connect(photos_, &PhotoControl::opened, this, &MainWindow::showContext);
    connect(photos_, &PhotoControl::engineKnown, liveControl_, &LiveControl::showPhotoEngine);
    connect(&session_, &PhotoSession::failed, this, &MainWindow::failed);
    connect(liveControl_, &LiveControl::starting, this, [this] {
        photos_->setMode(Mode::live);
        if (liveControl_->mode() != Mode::live) setMode(Mode::live);
    });
    connect(liveControl_, &LiveControl::shownChanged, this, &MainWindow::showContext);
    connect(liveControl_, &LiveControl::engineRuns, this, [this](const EngineInfo& info) {
        panel_->offerDetail(info.fineDetail);
        showContext();
    });
}

void MainWindow::connectWindow() {
    const auto on = [this](ActionId id, auto slot) { connect(actions_[id], &QAction::triggered, this, slot); };
    on(ActionId::paste, [this] { take(*QApplication::clipboard()->mimeData()); });
    on(ActionId::quit, [this] {
        if (mayClose()) close();
    });
    on(ActionId::cancel, &MainWindow::cancelOrClose);
    on(ActionId::shortcuts, [this] { ShortcutsDialog(actions_, this).exec(); });
    on(ActionId::about, &MainWindow::showAbout);
    on(ActionId::fullScreen, [this](bool whole) {
        actions_[ActionId::corner]->setChecked(false);
        compact_->setFullScreen(whole, liveControl_->mode() == Mode::live);
    });
    connect(actions_[ActionId::corner], &QAction::toggled, this, [this](bool small) {
        if (small) actions_[ActionId::fullScreen]->setChecked(false);
        compact_->setCorner(small);
    });
    connect(actions_[ActionId::panel], &QAction::toggled, panel_, &QWidget::setVisible);
    connect(compact_, &CompactWindow::left, this,
            [this] { panel_->setVisible(actions_[ActionId::panel]->isChecked()); });
    connect(compact_, &CompactWindow::leaveWanted, this, [this] { actions_[ActionId::corner]->setChecked(false); });
    connect(&canvas_->progress(), &ProgressPill::cancelRequested, this, &MainWindow::cancel);
    connect(bars_, &WindowBars::zoomChosen, &canvas_->viewport(), &Viewport::zoomTo);
    connect(&bars_->themes(), &ChoiceMenu::chosen, &theme_,
            [this](const QVariant& theme) { theme_.setChoice(ThemeChoice(theme.toInt())); });
    connect(&theme_, &Theme::changed, this, [this] {
        canvas_->viewport().setColors(theme_.canvas());
        bars_->themes().setChosen(int(theme_.choice()));
    });
}

void MainWindow::connectParams() {
    const QUndoStack& steps = document_.undoStack();
    QAction *undo = actions_[ActionId::undo], *redo = actions_[ActionId::redo];
    connect(undo, &QAction::triggered, backgrounds_, &BackgroundChooser::undo);
    connect(redo, &QAction::triggered, &document_, &Document::redo);
    connect(&steps, &QUndoStack::canUndoChanged, this, &MainWindow::showContext);
    connect(&steps, &QUndoStack::canRedoChanged, this, &MainWindow::showContext);
    connect(&steps, &QUndoStack::undoTextChanged, this,
            [undo](const QString& step) { undo->setText(step.isEmpty() ? tr("&Undo") : tr("&Undo %1").arg(step)); });
    connect(&steps, &QUndoStack::redoTextChanged, this,
            [redo](const QString& step) { redo->setText(step.isEmpty() ? tr("&Redo") : tr("&Redo %1").arg(step)); });
    connect(actions_[ActionId::resetParams], &QAction::triggered, this, [this] {
        CompositeParams params;
        params.transform.mirrored = liveControl_->mirroredAtFirst();
        document_.finishGesture();
        document_.edit(params, ParamControl::all);
    });
    connect(panel_, &ParamsPanel::pictureWanted, this, [this] {
        const QString path = askForBackground(this, settings_.backgroundFolder);
        if (!path.isEmpty()) backgrounds_->choose(path);
    });
    connect(panel_, &ParamsPanel::pictureDropped, backgrounds_, &BackgroundChooser::choose);
}

void MainWindow::connectProfiles() {
    connect(profiles_, &Profiles::changed, bars_, &WindowBars::showProfiles);
    connect(profiles_, &Profiles::changed, this, &MainWindow::showContext);
    connect(bars_, &WindowBars::profileChosen, this, &MainWindow::applyProfile);
    connect(actions_[ActionId::saveProfile], &QAction::triggered, this, [this] {
        const QString name = profiles_->askForName(this);
        if (!name.isEmpty() && !profiles_->keep({name, backgrounds_->wantedParams(), settings_.live.source})) {
            canvas_->banner().showError(tr("There are nine profiles, one for each key: delete one first."));
        }
    });
    connect(actions_[ActionId::deleteProfile], &QAction::triggered, this, [this] {
        const QString name = profiles_->askWhichToForget(this);
        if (!name.isEmpty()) profiles_->forget(name);
    });
}

void MainWindow::connectExporter() {
    Banner& banner = canvas_->banner();
    connect(actions_[ActionId::exportVideo], &QAction::triggered, this, &MainWindow::askForVideoExport);
    connect(exporter_, &VideoExporter::busyChanged, &canvas_->progress(), &ProgressPill::setStage);
    connect(exporter_, &VideoExporter::busyChanged, this, &MainWindow::showContext);
    connect(exporter_, &VideoExporter::failed, &banner, &Banner::showError);
    connect(exporter_, &VideoExporter::failed, this, &MainWindow::failed);
    connect(exporter_, &VideoExporter::cancelled, this, [&banner] { banner.showDone(tr("Cancelled.")); });
    connect(exporter_, &VideoExporter::saved, this, [&banner](const QString& path, const QString& remark) {
        const QString done = tr("Saved %1.").arg(QFileInfo(path).fileName());
        banner.showResult(remark.isEmpty() ? done : done + " " + remark, path);
    });
}

/// Notes whatever may change the settings. The file compares them when it is written.
void MainWindow::connectSettings() {
    if (!settingsFile_) return;
    SettingsFile* file = settingsFile_.get();
    const auto note = [file] { file->note(); };
    for (const QAction* action : actions_.all()) {
        connect(action, &QAction::triggered, this, note);  // after what it does, be that a dialog
        connect(action, &QAction::toggled, this, note);
    }
    connect(&document_, &Document::paramsChanged, this, note);
    connect(&document_, &Document::mirrorTurned, this, note);
    connect(&theme_, &Theme::changed, this, note);
    connect(photos_, &PhotoControl::changed, this, note);
    connect(liveControl_, &LiveControl::changed, this, note);
    connect(profiles_, &Profiles::changed, this, note);
    connect(panel_, &ParamsPanel::pictureWanted, this, note);
    connect(panel_, &ParamsPanel::pictureDropped, this, note);
    connect(backgrounds_, &BackgroundChooser::settled, this, note);
    connect(file, &SettingsFile::failed, &canvas_->banner(), &Banner::showError);
    // The desktop ends the session, and gives little time.
    connect(qApp, &QGuiApplication::commitDataRequest, this, [file] { file->write(); });
    if (damaged_.isEmpty()) return;
    canvas_->banner().showUntilClosed(file->damage());
    if (file->hasCopyOfDamaged()) note();  // without one the damaged file stays until something changes
}

void MainWindow::setMode(Mode mode) {
    const bool photo = mode == Mode::photo;
    if (photo) actions_[ActionId::corner]->setChecked(false);
    if (photo && isFullScreen()) compact_->setFullScreen(true, false);
    liveControl_->setMode(mode);
    bars_->tools().setMode(mode);
    panel_->setMode(mode);
    photos_->setMode(mode);
    showContext();
}

void MainWindow::showContext() {
    const QUndoStack& steps = document_.undoStack();
    const EngineInfo& engine = live_.status().engine;
    const bool live = liveControl_->mode() == Mode::live;
    actions_.setContext({.mode = liveControl_->mode(),
                         .photo = document_.isOpen(),
                         .livePicture = canvas_->liveShown(),
                         .fineDetail = engine.name.empty() || engine.fineDetail,
                         .profiles = !settings_.live.profiles.isEmpty(),
                         .writesVideo = exporter_->isBusy(),
                         .canUndo = steps.canUndo(),
                         .canRedo = steps.canRedo()});
    setWindowTitle(live                 ? tr("Live — Matte")
                   : document_.isOpen() ? tr("%1 — Matte").arg(document_.photo().name)
                                        : tr("Matte"));
}

void MainWindow::applyProfile(int index) {
    if (index < 0 || index >= settings_.live.profiles.size()) return;
    const Profile profile = settings_.live.profiles[index];
    CompositeParams params = profile.params;
    // First, because each kind of source has a mirror setting of its own.
    if (profile.source != settings_.live.source) liveControl_->choose(profile.source);
    // A photo is never mirrored: undone live, the step would turn the source's mirror.
    if (liveControl_->mode() == Mode::photo) params.transform.mirrored = document_.params().transform.mirrored;
    backgrounds_->applyProfile(params);
    canvas_->banner().showDone(profile.name);
}

/// In live mode a file is played, and a picture goes behind the person; in photo mode a video does.
void MainWindow::take(const QMimeData& incoming) {
    try {
        const QList<QUrl> urls = incoming.urls();
        if (urls.size() > 1) {
            throw Error(ErrorCategory::input,
                        "Matte opens one file at a time; matte-cli image takes as many photos as you like.");
        }
        const QString path = urls.isEmpty() ? QString() : urls.first().toLocalFile();
        const bool isLive = liveControl_->mode() == Mode::live;
        const bool isBackground =
            isLive ? hasImageExtension(path.toStdString()) : hasVideoExtension(path.toStdString());
        if (path.isEmpty() || !(isLive || isBackground)) return photos_->open(PhotoSource::fromMimeData(incoming));
        if (isBackground) return backgrounds_->choose(path);
        liveControl_->play(path);
    } catch (const Error& error) {
        canvas_->banner().showError(QString::fromStdString(error.what()));
    }
}

/// The video that is played, or another one.
void MainWindow::askForVideoExport() {
    const SourceSpec& source = settings_.live.source.spec;
    const QString played = QString::fromStdString(source.name);
    const bool playsVideo = liveControl_->mode() == Mode::live && source.kind == SourceSpec::Kind::file &&
                            QFileInfo(played).isFile();  // and no folder of pictures
    const QString video = playsVideo ? played : askForVideoToExport(this, settings_.live.videoFolder);
    if (video.isEmpty()) return;
    const bool transparent = document_.params().background.kind == Background::Kind::transparent;
    const QString path = matte::askForVideoExport(this, settings_.exportFolder, video, transparent);
    if (!path.isEmpty()) exportVideo(video, path);
}

void MainWindow::exportVideo(const QString& video, const QString& path) {
    VideoExport job{video.toStdString(), path.toStdString(), document_.params()};
    job.alsoRead = filesRead();
    job.params.fineDetail = true;  // there is time for it
    // Only of the source that is chosen is known whether it is a mirror.
    if (settings_.live.source.spec.name != job.input) job.params.transform.mirrored = false;
    liveControl_->stop();
    canvas_->banner().dismiss();
    exporter_->begin(job);
}

/// Without the photo, which its session knows.
std::vector<std::filesystem::path> MainWindow::filesRead() const {
    std::vector<std::filesystem::path> files = models_;
    files.emplace_back(backgrounds_->wantedParams().background.imagePath);
    const SourceSpec& source = settings_.live.source.spec;
    if (source.kind == SourceSpec::Kind::file) files.emplace_back(source.name);
    return files;
}

/// Cancels the export of a video if the user agrees. Returns whether none is running any longer.
bool MainWindow::endExport(const QString& question) {
    if (!exporter_->isBusy() || closesNow_) return true;
    const auto answer = QMessageBox::question(this, tr("Matte is writing a video"), question,
                                              QMessageBox::Yes | QMessageBox::No, QMessageBox::No);
    if (answer != QMessageBox::Yes && !closesNow_) return false;  // it may have come to that meanwhile
    exporter_->cancel();
    return true;
}

void MainWindow::cancel() {
    if (!endExport(tr("The video is not finished. Give it up?"))) return;
    session_.cancel();
    backgrounds_->giveUp();
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
    const QString engine = QString::fromStdString(photos_->engine().name);
    QMessageBox::about(this, tr("About Matte"),
                       tr("<h3>Matte %1</h3><p>Replaces what is behind a person. Nothing leaves this computer.</p>"
                          "<p>Engine: %2</p>")
                           .arg(MATTE_VERSION, engine.isEmpty() ? tr("none yet") : engine.toHtmlEscaped()));
}

void MainWindow::closeNow() {
    closesNow_ = true;
    if (isVisible()) close();
}

/// Asks before other programs lose the camera, or the user a video.
bool MainWindow::mayClose() {
    const auto maySpoilTheVideo = [&] {
        return endExport(tr("The video is not finished. Close Matte and give it up?"));
    };
    if (!liveControl_->isWatched()) return maySpoilTheVideo();
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
    if (!event->mimeData()->hasUrls() && !event->mimeData()->hasImage()) return;
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
    canvas_->viewport().setOriginalHeld(photos_->showing() == Showing::original);
}

bool MainWindow::event(QEvent* event) {
    // A key that is released in another window is not reported here.
    if (event->type() == QEvent::WindowDeactivate)
        canvas_->viewport().setOriginalHeld(photos_->showing() == Showing::original);
    const bool moved = event->type() == QEvent::Move || event->type() == QEvent::Resize;
    if (settingsFile_ && (moved || event->type() == QEvent::WindowStateChange)) settingsFile_->note();
    return QMainWindow::event(event);
}

/// The desktop's session ends: Qt tells the application.
bool MainWindow::eventFilter(QObject* object, QEvent* event) {
    if (object == qApp && event->type() == QEvent::Quit) closeNow();
    return QMainWindow::eventFilter(object, event);
}

}  // namespace matte
