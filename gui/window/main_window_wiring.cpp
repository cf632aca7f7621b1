// SPDX-License-Identifier: Apache-2.0
// Which signal of which part leads to what in MainWindow.
#include <QApplication>
#include <QClipboard>

#include "gui/app/file_dialogs.h"
#include "gui/app/settings_file.h"
#include "gui/live/live_control.h"
#include "gui/live/profiles.h"
#include "gui/panels/params_panel.h"
#include "gui/widgets/banner.h"
#include "gui/widgets/progress_pill.h"
#include "gui/window/canvas.h"
#include "gui/window/compact_window.h"
#include "gui/window/main_window.h"
#include "gui/window/shortcuts_dialog.h"
#include "gui/window/status_line.h"
#include "gui/window/viewport.h"
#include "gui/window/window_bars.h"

namespace matte {
namespace {

constexpr double kZoomStep = 1.25;

}  // namespace

void MainWindow::connectSession() {
    connect(&session_, &PhotoSession::busyChanged, &canvas_->progress(),
            [this](const QString& stage) { canvas_->progress().setStage(stage); });
    connect(&session_, &PhotoSession::failed, &canvas_->banner(), &Banner::showError);
    connect(&session_, &PhotoSession::failed, this, &MainWindow::failed);
    connect(&session_, &PhotoSession::opened, this, &MainWindow::photoOpened);
    connect(&session_, &PhotoSession::rendered, this, &MainWindow::pictureRendered);
    connect(&session_, &PhotoSession::backgroundLoaded, this, &MainWindow::backgroundLoaded);
    connect(&session_, &PhotoSession::backgroundFailed, this, &MainWindow::backgroundFailed);
    connect(&session_, &PhotoSession::exported, this, &MainWindow::pictureExported);
    connect(&session_, &PhotoSession::copied, this, [this](const QImage& picture, const CompositeParams& params) {
        QApplication::clipboard()->setImage(picture);
        const bool alone = params.background.kind == Background::Kind::transparent;
        canvas_->banner().showDone(alone ? tr("Copied the cut-out, with its transparency.")
                                         : tr("Copied the picture."));
    });
    connect(&session_, &PhotoSession::cancelled, this, [this] { canvas_->banner().showDone(tr("Cancelled.")); });
    connect(&session_, &PhotoSession::engineReady, this, [this](const EngineInfo& info) {
        engine_ = info;
        if (liveControl_->mode() == Mode::photo) status_->showEngine(info);
        if (live_.status().engine.name.empty()) liveControl_->showEngine(info);
        Q_EMIT engineKnown(info);
    });
    connect(&canvas_->progress(), &ProgressPill::cancelRequested, this, &MainWindow::cancel);
}

void MainWindow::connectFiles() {
    const auto on = [this](ActionId id, auto slot) { connect(actions_[id], &QAction::triggered, this, slot); };
    on(ActionId::open, [this] {
        const QString path = askForPhoto(this, settings_.openFolder);
        if (!path.isEmpty()) openPhoto(PhotoSource::fromFile(path));
    });
    on(ActionId::openSample, &MainWindow::openSample);
    on(ActionId::paste, [this] { take(*QApplication::clipboard()->mimeData()); });
    on(ActionId::exportPicture, [this] {
        const bool transparent = document_.params().background.kind == Background::Kind::transparent;
        const int photo = document_.photo().number;  // the one that is seen when the question comes
        const QString path = askForExport(this, settings_.exportFolder, document_.photo().name, transparent);
        if (!path.isEmpty()) exportTo(path, photo);
    });
    on(ActionId::copyCutout, [this] { copy(false); });
    on(ActionId::copyPicture, [this] { copy(true); });
    on(ActionId::quit, [this] {
        if (mayClose()) close();
    });
    on(ActionId::cancel, &MainWindow::cancelOrClose);
    on(ActionId::shortcuts, [this] { ShortcutsDialog(actions_, this).exec(); });
    on(ActionId::about, &MainWindow::showAbout);
    connect(bars_, &WindowBars::recentChosen, this,
            [this](const QString& path) { openPhoto(PhotoSource::fromFile(path)); });
    connect(bars_, &WindowBars::recentCleared, this, [this] {
        settings_.recentFiles.clear();
        bars_->showRecent({});
    });
}

void MainWindow::connectView() {
    Viewport& viewport = canvas_->viewport();
    const auto on = [this](ActionId id, auto slot) { connect(actions_[id], &QAction::triggered, this, slot); };
    on(ActionId::fit, [&viewport] { viewport.fit(); });
    on(ActionId::actualSize, [&viewport] { viewport.actualSize(); });
    on(ActionId::zoomIn, [&viewport] { viewport.zoomBy(kZoomStep); });
    on(ActionId::zoomOut, [&viewport] { viewport.zoomBy(1 / kZoomStep); });
    on(ActionId::nextView, [this] { setShowing(Showing(int(showing_) % int(Showing::original) + 1)); });
    on(ActionId::fullScreen, [this](bool whole) {
        actions_[ActionId::corner]->setChecked(false);
        compact_->setFullScreen(whole, liveControl_->mode() == Mode::live);
    });
    connect(actions_[ActionId::split], &QAction::toggled, &viewport, &Viewport::setSplitVisible);
    connect(actions_[ActionId::panel], &QAction::toggled, panel_, &QWidget::setVisible);
    connect(bars_, &WindowBars::viewChosen, this, &MainWindow::setShowing);
    connect(bars_, &WindowBars::zoomChosen, &viewport, &Viewport::zoomTo);
    connect(bars_, &WindowBars::themeChosen, &theme_, &Theme::setChoice);
    connect(&theme_, &Theme::changed, this, [this] {
        canvas_->viewport().setColors(theme_.canvas());
        bars_->showTheme(theme_.choice());
    });
    connect(&viewport, &Viewport::failed, &canvas_->banner(), &Banner::showError);
    connect(&viewport, &Viewport::zoomChanged, this, [this](double zoom) {
        if (document_.isOpen()) bars_->showZoom(zoom);
        requestRender();
    });
}

/// Whatever may change what is remembered; whether it did is seen when it comes to writing.
void MainWindow::connectSettings() {
    if (!settingsFile_) return;
    const auto note = [file = settingsFile_.get()] { file->note(); };
    for (const QAction* action : actions_.all()) {
        connect(action, &QAction::triggered, this, note);  // after what it does, be that a dialog
        connect(action, &QAction::toggled, this, note);
    }
    connect(&document_, &Document::paramsChanged, this, note);
    connect(&document_, &Document::mirrorTurned, this, note);
    connect(&theme_, &Theme::changed, this, note);
    connect(liveControl_, &LiveControl::changed, this, note);
    connect(profiles_, &Profiles::changed, this, note);
    connect(bars_, &WindowBars::recentCleared, this, note);
    connect(panel_, &ParamsPanel::pictureWanted, this, note);
    connect(panel_, &ParamsPanel::pictureDropped, this, note);
    connect(this, &MainWindow::backgroundSettled, this, note);
    connect(settingsFile_.get(), &SettingsFile::failed, &canvas_->banner(), &Banner::showError);
    // The desktop ends the session, and gives little time.
    connect(qApp, &QGuiApplication::commitDataRequest, this, [file = settingsFile_.get()] { file->write(); });
    if (damaged_.isEmpty()) return;
    const QString names = damaged_.mid(0, 3).join(", ") + (damaged_.size() > 3 ? ", …" : "");
    QString told =
        tr("A part of the settings was damaged (%1) and was put right or set back; the rest is kept.").arg(names);
    const bool hasCopy = settingsFile_->hasCopyOfDamaged();
    if (hasCopy) told += tr(" The file as it was is %1.").arg(settingsFile_->copyOfDamaged());
    canvas_->banner().showUntilClosed(told);
    if (hasCopy) note();  // without one the damaged file stays until something changes
}

void MainWindow::connectParams() {
    const QUndoStack& steps = document_.undoStack();
    QAction *undo = actions_[ActionId::undo], *redo = actions_[ActionId::redo];
    connect(undo, &QAction::triggered, this, &MainWindow::undo);
    connect(redo, &QAction::triggered, &document_, &Document::redo);
    connect(&steps, &QUndoStack::canUndoChanged, this, &MainWindow::showContext);
    connect(&steps, &QUndoStack::canRedoChanged, this, &MainWindow::showContext);
    connect(&steps, &QUndoStack::undoTextChanged, this,
            [undo](const QString& step) { undo->setText(step.isEmpty() ? tr("&Undo") : tr("&Undo %1").arg(step)); });
    connect(&steps, &QUndoStack::redoTextChanged, this,
            [redo](const QString& step) { redo->setText(step.isEmpty() ? tr("&Redo") : tr("&Redo %1").arg(step)); });
    connect(&document_, &Document::paramsChanged, this, &MainWindow::requestRender);
    connect(&document_, &Document::paramsChanged, this,
            [this](const CompositeParams& params) { backgroundChanged(params.background); });
    connect(actions_[ActionId::resetParams], &QAction::triggered, this, [this] {
        CompositeParams params;
        params.transform.mirrored = liveControl_->mirroredAtFirst();
        document_.finishGesture();
        document_.edit(params, ParamControl::all);
    });
    connect(panel_, &ParamsPanel::pictureWanted, this, [this] {
        const QString path = askForBackground(this, settings_.backgroundFolder);
        if (!path.isEmpty()) setBackgroundPicture(path);
    });
    connect(panel_, &ParamsPanel::pictureDropped, this, &MainWindow::setBackgroundPicture);
}

}  // namespace matte
