// SPDX-License-Identifier: Apache-2.0
// How whole videos are written from MainWindow.
#include <QFileInfo>
#include <QMessageBox>

#include "gui/app/file_dialogs.h"
#include "gui/live/live_control.h"
#include "gui/live/video_exporter.h"
#include "gui/widgets/banner.h"
#include "gui/widgets/progress_pill.h"
#include "gui/window/canvas.h"
#include "gui/window/main_window.h"

namespace matte {

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

/// Over which nothing is to be written. Of the photo its session knows.
std::vector<std::filesystem::path> MainWindow::filesRead() const {
    std::vector<std::filesystem::path> files = models_;
    files.emplace_back(wantedParams().background.imagePath);
    const SourceSpec& source = settings_.live.source.spec;
    if (source.kind == SourceSpec::Kind::file) files.emplace_back(source.name);
    return files;
}

/// Hours of work may go, so they do only after `question`. Whether nothing is being written any longer.
bool MainWindow::endExport(const QString& question) {
    if (!exporter_->isBusy() || closesNow_) return true;
    const auto answer = QMessageBox::question(this, tr("Matte is writing a video"), question,
                                              QMessageBox::Yes | QMessageBox::No, QMessageBox::No);
    if (answer != QMessageBox::Yes && !closesNow_) return false;  // it may have come to that meanwhile
    exporter_->cancel();
    return true;
}

}  // namespace matte
