// SPDX-License-Identifier: Apache-2.0
#include "gui/photo/photo_control.h"

#include <QApplication>
#include <QClipboard>
#include <QFileInfo>

#include <algorithm>

#include "gui/app/file_dialogs.h"
#include "gui/widgets/banner.h"
#include "gui/widgets/choice_menu.h"
#include "gui/widgets/progress_pill.h"
#include "gui/window/actions.h"
#include "gui/window/canvas.h"
#include "gui/window/status_line.h"
#include "gui/window/viewport.h"
#include "gui/window/window_bars.h"
#include "inference/core/atomic_file.h"
#include "inference/model/default_model.h"

namespace matte {
namespace {

constexpr int kSideStep = 64;  // so that a window that is being resized does not ask for every size in between

bool isTransparent(const CompositeParams& params) {
    return params.background.kind == Background::Kind::transparent;
}

// How large a picture the view can make use of: as the fitted view shows it, or all of it when more than that is seen.
int usefulSide(Size photo, const Viewport& viewport) {
    const Size pixels = viewport.pixelSize();
    const double fitted = std::min(double(pixels.width) / photo.width, double(pixels.height) / photo.height);
    const int side = (int(photo.longest() * std::min(fitted, 1.0)) / kSideStep + 1) * kSideStep;
    return viewport.zoom() * photo.longest() > side ? photo.longest() : std::min(side, photo.longest());
}

}  // namespace

PhotoControl::PhotoControl(const Parts& parts, QWidget* window) : QObject(window), parts_(parts) {
    connectSession();
    connectActions(window);
    connect(&parts_.document, &Document::paramsChanged, this, &PhotoControl::requestRender);
    connect(&parts_.canvas.viewport(), &Viewport::zoomChanged, this, [this](double zoom) {
        if (parts_.document.isOpen()) parts_.bars.showZoom(zoom);
        requestRender();
    });
}

void PhotoControl::connectSession() {
    PhotoSession& session = parts_.session;
    Banner& banner = parts_.canvas.banner();
    ProgressPill& progress = parts_.canvas.progress();
    connect(&session, &PhotoSession::busyChanged, &progress,
            [&progress](const QString& stage) { progress.setStage(stage); });
    connect(&session, &PhotoSession::failed, &banner, &Banner::showError);
    connect(&session, &PhotoSession::cancelled, &banner, [&banner] { banner.showDone(tr("Cancelled.")); });
    connect(&session, &PhotoSession::opened, this, &PhotoControl::show);
    connect(&session, &PhotoSession::rendered, this, &PhotoControl::showRendered);
    connect(&session, &PhotoSession::exported, this, &PhotoControl::showExported);
    connect(&session, &PhotoSession::copied, this, [&banner](const QImage& picture, const CompositeParams& params) {
        QApplication::clipboard()->setImage(picture);
        banner.showDone(isTransparent(params) ? tr("Copied the cut-out, with its transparency.")
                                              : tr("Copied the picture."));
    });
    connect(&session, &PhotoSession::engineReady, this, [this](const EngineInfo& info) {
        engine_ = info;
        if (!isLive()) parts_.status.showEngine(info);
        Q_EMIT engineKnown(info);
    });
}

void PhotoControl::connectActions(QWidget* window) {
    Settings& settings = parts_.settings;
    const auto on = [this](ActionId id, auto slot) { connect(parts_.actions[id], &QAction::triggered, this, slot); };
    on(ActionId::open, [this, window, &settings] {
        const QString path = askForPhoto(window, settings.openFolder);
        if (!path.isEmpty()) open(PhotoSource::fromFile(path));
    });
    on(ActionId::openSample, &PhotoControl::openSample);
    on(ActionId::exportPicture, [this, window, &settings] {
        const OpenedPhoto& photo = parts_.document.photo();
        const int number = photo.number;  // the one that is seen when the question comes
        const QString path = askForExport(window, settings.exportFolder, photo.name, isTransparent(params()));
        if (!path.isEmpty()) exportTo(path, number);
    });
    on(ActionId::copyCutout, [this] { copy(false); });
    on(ActionId::copyPicture, [this] { copy(true); });
    on(ActionId::nextView, [this] { setShowing(Showing(int(showing_) % int(Showing::original) + 1)); });
    connect(&parts_.bars.views(), &ChoiceMenu::chosen, this,
            [this](const QVariant& view) { setShowing(Showing(view.toInt())); });
    connect(&parts_.bars, &WindowBars::recentChosen, this,
            [this](const QString& path) { open(PhotoSource::fromFile(path)); });
    connect(&parts_.bars, &WindowBars::recentCleared, this, [this] {
        parts_.settings.recentFiles.clear();
        parts_.bars.showRecent({});
        Q_EMIT changed();
    });
}

void PhotoControl::open(const PhotoSource& source) {
    isWanted_ = true;
    parts_.session.open(source);
}

void PhotoControl::openSample() {
    try {
        open(PhotoSource::fromFile(QString::fromStdString(dataFile("samples/astronaut.png").string())));
    } catch (const Error& error) {
        parts_.canvas.banner().showError(QString::fromStdString(error.what()));
    }
}

void PhotoControl::show(const OpenedPhoto& photo) {
    parts_.document.setPhoto(photo);
    requested_.reset();
    parts_.canvas.hideWelcome();
    parts_.canvas.viewport().setPhoto(photo.preview, photo.image->size());
    if (isWanted_ || !isLive()) {
        parts_.canvas.banner().dismiss();
        Q_EMIT wanted();
    } else {
        parts_.canvas.banner().showDone(tr("%1 is open, under Photo.").arg(photo.name));
        setShowing(Showing::result);
    }
    Q_EMIT opened();
    parts_.bars.showZoom(parts_.canvas.viewport().zoom());
    if (photo.path.isEmpty()) return;
    parts_.settings.addRecent(QFileInfo(photo.path).absoluteFilePath());
    parts_.bars.showRecent(parts_.settings.recentFiles);
    Q_EMIT changed();
}

void PhotoControl::setMode(Mode mode) {
    isWanted_ = isWanted_ && mode == Mode::photo;
    setShowing(Showing::result);
    if (mode == Mode::live) return;
    const Document& document = parts_.document;
    if (document.isOpen()) {
        parts_.status.showPhoto(document.photo());
    } else {
        parts_.status.clearPhoto();
    }
    parts_.status.showEngine(engine_);
}

void PhotoControl::setShowing(Showing showing) {
    showing_ = showing;
    const bool isResult = showing == Showing::result;
    Canvas& canvas = parts_.canvas;
    parts_.bars.showView(showing);
    canvas.viewport().setOriginalHeld(showing == Showing::original);
    canvas.setAfterName(isResult ? tr("After") : viewName(showing));
    canvas.setViewName(isResult ? QString() : tr("%1   F for the next view").arg(viewName(showing)));
    requestRender();
}

/// A photo is what it is: only live pictures are mirrored.
CompositeParams PhotoControl::params() const {
    CompositeParams params = parts_.document.params();
    params.transform.mirrored = false;
    return params;
}

void PhotoControl::requestRender() {
    if (!parts_.document.isOpen() || isLive()) return;
    const Size photo = parts_.document.photo().image->size();
    const RenderRequest request{params(), showing_, usefulSide(photo, parts_.canvas.viewport())};
    if (request == requested_) return;
    requested_ = request;
    parts_.session.show(request);
}

void PhotoControl::showRendered(const Rendered& picture) {
    const OpenedPhoto& photo = parts_.document.photo();
    if (!parts_.document.isOpen() || picture.request.showing != showing_) return;
    if (isLive()) return requested_.reset();  // it is asked for again later
    Viewport& viewport = parts_.canvas.viewport();
    if (picture.image->size().longest() > photo.preview->size().longest()) viewport.setBefore(photo.image);
    viewport.setAfter(picture.image);
    parts_.status.showComposite(picture);
}

void PhotoControl::exportTo(const QString& path, int photo) {
    try {
        refuseReplacing(path.toStdString(), parts_.filesRead());
        parts_.session.exportTo(path, params(), photo);
    } catch (const Error& error) {
        parts_.canvas.banner().showError(QString::fromStdString(error.what()));
    }
}

void PhotoControl::showExported(const QString& path) {
    const QString name = QFileInfo(path).fileName();
    const bool isJpeg = name.endsWith(".jpg", Qt::CaseInsensitive) || name.endsWith(".jpeg", Qt::CaseInsensitive);
    const QString sentence = isJpeg && isTransparent(params())
                                 ? tr("Saved %1. JPEG has no transparency, so white is behind the person.")
                                 : tr("Saved %1.");
    parts_.canvas.banner().showDone(sentence.arg(name), path);
}

void PhotoControl::copy(bool withBackground) {
    CompositeParams params = this->params();
    if (!withBackground) params.background.kind = Background::Kind::transparent;
    parts_.session.copy(params, parts_.document.photo().number);
}

}  // namespace matte
