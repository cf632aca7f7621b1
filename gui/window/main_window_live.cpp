// SPDX-License-Identifier: Apache-2.0
// The wiring of live mode in MainWindow.
#include <QApplication>
#include <QKeyEvent>

#include "gui/app/file_dialogs.h"
#include "gui/live/camera_feed.h"
#include "gui/live/camera_watch.h"
#include "gui/live/live_control.h"
#include "gui/live/profiles.h"
#include "gui/live/snapshots.h"
#include "gui/panels/implementation_row.h"
#include "gui/panels/live_group.h"
#include "gui/panels/params_panel.h"
#include "gui/timing/timing_overlay.h"
#include "gui/timing/trace_recorder.h"
#include "gui/widgets/banner.h"
#include "gui/window/canvas.h"
#include "gui/window/compact_window.h"
#include "gui/window/main_window.h"
#include "gui/window/viewport.h"
#include "gui/window/window_bars.h"
#include "inference/core/atomic_file.h"
#include "inference/core/error.h"

namespace matte {

void MainWindow::connectLive() {
    const auto on = [this](ActionId id, auto slot) { connect(actions_[id], &QAction::triggered, this, slot); };
    on(ActionId::photoMode, [this] { setMode(Mode::photo); });
    on(ActionId::liveMode, [this] { setMode(Mode::live); });
    on(ActionId::useVideo, [this] { goLive(askForVideo(this, settings_.live.videoFolder)); });
    on(ActionId::useFolder, [this] { goLive(askForFolder(this, settings_.live.videoFolder)); });
    on(ActionId::useAddress, [this] { goLive(askForAddress(this)); });
    connect(liveControl_, &LiveControl::starting, this, [this] {
        photoAwaited_ = false;
        if (liveControl_->mode() != Mode::live) setMode(Mode::live);
    });
    connect(liveControl_, &LiveControl::shownChanged, this, &MainWindow::showContext);
    connect(liveControl_, &LiveControl::engineRuns, this, [this](const EngineInfo& info) {
        panel_->live().offerDetail(info.fineDetail);
        showContext();
    });
    connect(actions_[ActionId::corner], &QAction::toggled, this, [this](bool small) {
        if (small) actions_[ActionId::fullScreen]->setChecked(false);
        compact_->setCorner(small);
    });
    connect(compact_, &CompactWindow::left, this,
            [this] { panel_->setVisible(actions_[ActionId::panel]->isChecked()); });
    connect(compact_, &CompactWindow::leaveWanted, this, [this] { actions_[ActionId::corner]->setChecked(false); });
    canvas_->timing().setReport([this] { return report(); });
    if (!implementations_) return;
    auto* row = new ImplementationRow(implementations_);
    connect(row, &ImplementationRow::failed, &canvas_->banner(), &Banner::showError);
    canvas_->timing().setFooter(row);
}

void MainWindow::watchCameras() {
    auto* watch = new CameraWatch(this);
    connect(watch, &CameraWatch::changed, liveControl_, &LiveControl::setCameras);
    watch->tell();
}

void MainWindow::connectRecords() {
    Banner& banner = canvas_->banner();
    const auto saved = [&banner](const QString& path) { banner.showDone(tr("Saved %1.").arg(path), path); };
    connect(snapshots_, &Snapshots::saved, this, saved);
    connect(snapshots_, &Snapshots::failed, &banner, &Banner::showError);
    connect(actions_[ActionId::snapshot], &QAction::triggered, this,
            [this] { snapshots_->take(settings_.live.snapshotFolder); });
    connect(actions_[ActionId::snapshotCutout], &QAction::triggered, this,
            [this] { snapshots_->takeCutout(settings_.live.snapshotFolder); });
    auto* recorder = new TraceRecorder(live_, this);
    connect(recorder, &TraceRecorder::saved, this, saved);
    connect(recorder, &TraceRecorder::failed, &banner, &Banner::showError);
    connect(actions_[ActionId::trace], &QAction::toggled, this, [this, recorder, &banner](bool on) {
        if (!on) return recorder->stop();
        if (!recorder->start()) return actions_[ActionId::trace]->setChecked(false);
        banner.showDone(tr("Recording a trace. Ctrl+T ends it."));
    });
    connect(actions_[ActionId::saveStatistics], &QAction::triggered, this, [this, &banner, saved] {
        const QString path = askForStatistics(this, settings_.exportFolder);
        if (path.isEmpty()) return;
        try {
            refuseReplacing(path.toStdString(), filesRead());
            LiveReport now = report();
            now.footprints = {footprint()};
            writeReport(path, now);
            saved(path);
        } catch (const Error& error) {
            banner.showError(QString::fromStdString(error.what()));
        }
    });
}

/// What other programs see is what the window shows, for as long as it shows something.
void MainWindow::connectFeed() {
    QAction* action = actions_[ActionId::virtualCamera];
    Banner& banner = canvas_->banner();
    connect(&live_, &LiveSession::pictureChanged, feed_, [this](const LiveSession::Live& live) {
        if (feed_->isOn()) feed_->setPicture(live);
    });
    connect(liveControl_, &LiveControl::shownChanged, feed_, [this](bool shown) {
        if (!shown) feed_->setPicture(nullptr);
    });
    connect(action, &QAction::toggled, feed_, [this](bool on) {
        feed_->setPicture(on && canvas_->liveShown() ? live_.newest() : nullptr);
        if (!on) return feed_->stop();
        feed_->start();
    });
    connect(feed_, &CameraFeed::started, this, [this, &banner](const QStringList& names) {
        const QString mirrored =
            document_.params().transform.mirrored ? tr(" You are mirrored there, too: M turns that off.") : QString();
        banner.showDone(
            tr("Other programs can choose this picture now, as the camera “%1”.").arg(names.join(tr("” or “"))) +
            mirrored);
    });
    connect(feed_, &CameraFeed::failed, this, [action, &banner](const QString& sentence) {
        action->setChecked(false);
        banner.showError(sentence);
    });
}

Footprint MainWindow::footprint() const {
    Footprint now = footprintNow(live_.framesPresented());
    now.glObjects = canvas_->viewport().glObjects();
    return now;
}

void MainWindow::connectProfiles() {
    connect(profiles_, &Profiles::changed, bars_, &WindowBars::showProfiles);
    connect(profiles_, &Profiles::changed, this, &MainWindow::showContext);
    connect(bars_, &WindowBars::profileChosen, this, &MainWindow::applyProfile);
    connect(actions_[ActionId::saveProfile], &QAction::triggered, this, [this] {
        const QString name = profiles_->askForName(this);
        if (!name.isEmpty() && !profiles_->keep({name, wantedParams(), settings_.live.source})) {
            canvas_->banner().showError(tr("There are nine profiles, one for each key: delete one first."));
        }
    });
    connect(actions_[ActionId::deleteProfile], &QAction::triggered, this, [this] {
        const QString name = profiles_->askWhichToForget(this);
        if (!name.isEmpty()) profiles_->forget(name);
    });
}

// Qt gives a window's shortcuts nothing while a dialog stands before it or a menu is open; the panic key must work all
// the same. And where the desktop's session ends, Qt tells the application.
bool MainWindow::eventFilter(QObject* object, QEvent* event) {
    if (object == qApp && event->type() == QEvent::Quit) closeNow();
    const bool covered = QApplication::activeModalWidget() || QApplication::activePopupWidget();
    if (event->type() == QEvent::KeyPress && covered) {
        const auto& key = static_cast<const QKeyEvent&>(*event);
        QAction* hide = actions_[ActionId::hidePerson];
        if (!key.isAutoRepeat() && hide->isEnabled() && hide->shortcut() == QKeySequence(key.key() | key.modifiers())) {
            hide->toggle();
            return true;
        }
    }
    return QMainWindow::eventFilter(object, event);
}

}  // namespace matte
