// SPDX-License-Identifier: Apache-2.0
#include "gui/photo/photo_session.h"

#include <QFileInfo>
#include <QMimeData>
#include <QUrl>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>

#include "gui/app/qt_image.h"
#include "inference/core/error.h"
#include "inference/core/stopwatch.h"
#include "inference/core/thread.h"
#include "inference/matting/resample.h"
#include "inference/media/background_file.h"
#include "inference/media/image/image_file.h"

namespace matte {
namespace {

// A slider that rests this long is taken as set, and the settled picture is worth making.
constexpr std::chrono::milliseconds kQuietBeforeSettled{150};
// What a quick picture may take, so that with its upload and drawing a slider redraws within 50 ms.
constexpr double kQuickMs = 30;
// Of the side asked for. Only a few, because an engine keeps the photo at the size that it was last asked for.
constexpr double kQuickScales[] = {1, 0.7, 0.5};

Size previewSize(Size photo) {
    const double shrink = std::min(1.0, std::sqrt(PhotoSession::kPreviewPixels / double(photo.pixels())));
    return shrunkTo(photo, std::max(1, int(photo.longest() * shrink)));
}

// Only result shows the parameters' own background; the others are for judging the edge.
CompositeParams paramsFor(const RenderRequest& request) {
    CompositeParams params = request.params;
    if (request.showing == Showing::onBlack || request.showing == Showing::onWhite) {
        params.background = {};
        params.background.kind = Background::Kind::color;
        params.background.color = request.showing == Showing::onBlack ? Rgb{0, 0, 0} : Rgb{255, 255, 255};
    }
    return params;
}

bool isSameFile(const std::filesystem::path& a, const std::filesystem::path& b) {
    std::error_code none;
    return std::filesystem::equivalent(a, b, none);  // also through links; false when one does not exist
}

}  // namespace

PhotoSource PhotoSource::fromFile(const QString& path) {
    return {std::filesystem::path(path.toStdString()), {}, QFileInfo(path).fileName()};
}

PhotoSource PhotoSource::fromMimeData(const QMimeData& data) {
    const QList<QUrl> urls = data.urls();
    for (const QUrl& url : urls) {
        if (url.isLocalFile()) return fromFile(url.toLocalFile());
    }
    const auto pixels = qvariant_cast<QImage>(data.imageData());
    if (!pixels.isNull()) return {{}, pixels, PhotoSession::tr("Pasted picture")};
    if (!urls.isEmpty()) {
        throw Error(ErrorCategory::input,
                    "That is only the address of a picture: save it to this computer and open the file.");
    }
    throw Error(ErrorCategory::input, "The clipboard holds no picture: copy one, or a picture file, and paste again.");
}

PhotoSession::PhotoSession(EngineFactory makeEngine, QObject* parent)
    : QObject(parent),
      makeEngine_(std::move(makeEngine)),
      worker_(startThread(
          "photos", ErrorCategory::engine, [this](const std::stop_token& quit) { work(quit); }, untold)) {}

PhotoSession::~PhotoSession() {
    worker_.request_stop();
    const std::lock_guard lock(mutex_);
    jobStop_.request_stop();
}

void PhotoSession::post(Job job) {
    {
        const std::lock_guard lock(mutex_);
        if (job.kind == JobKind::open) {
            if (running_ == JobKind::open || running_ == JobKind::settled) jobStop_.request_stop();
            open_ = std::move(job);
        } else {
            errands_.push_back(std::move(job));
        }
    }
    wake_.notify_one();
}

void PhotoSession::prepare() {
    post({JobKind::errand, [this](std::stop_token) {
              Q_EMIT busyChanged(tr("Loading the model"));
              engine();
          }});
}

void PhotoSession::open(PhotoSource source) {
    post({JobKind::open, [this, source = std::move(source)](std::stop_token stop) { openNow(source, stop); }});
}

void PhotoSession::show(const RenderRequest& request) {
    {
        const std::lock_guard lock(mutex_);
        if (running_ == JobKind::settled) jobStop_.request_stop();
        quick_ = request;
        settled_.reset();
    }
    wake_.notify_one();
}

void PhotoSession::loadBackground(const QString& path) {
    post({JobKind::errand, [this, path](std::stop_token stop) {
              Q_EMIT busyChanged(tr("Reading the background"));
              Background background;
              background.imagePath = path.toStdString();
              try {
                  readBackground(background, stop);
              } catch (const Cancelled&) {
                  throw;
              } catch (...) {
                  Q_EMIT backgroundFailed(path);
                  throw;
              }
              stopIfAsked(stop);
              Q_EMIT backgroundLoaded(background);
          }});
}

/// Between the question for a name and the answer another photo may have come.
void PhotoSession::checkOpen(int photo) const {
    if (photo == photoNumber_) return;
    throw Error(ErrorCategory::output,
                "Another photo was opened meanwhile: open the one before again to save or copy it.");
}

void PhotoSession::exportTo(const QString& path, const CompositeParams& params, int photo) {
    post({JobKind::errand,
          [this, path = std::filesystem::path(path.toStdString()), params, photo](std::stop_token stop) {
              checkOpen(photo);
              exportNow(path, params, stop);
          }});
}

void PhotoSession::copy(const CompositeParams& params, int photo) {
    post({JobKind::errand, [this, params, photo](std::stop_token stop) {
              if (!cutout_) return;
              checkOpen(photo);
              Q_EMIT busyChanged(tr("Copying"));
              const auto output = engine().composite(*cutout_, params, cutout_->source()->size(), stop);
              Q_EMIT copied(toQImage(output.picture->image()), params);
          }});
}

void PhotoSession::cancel() {
    const std::lock_guard lock(mutex_);
    open_.reset();
    errands_.clear();
    if (running_ == JobKind::open || running_ == JobKind::errand) jobStop_.request_stop();
}

// Errands first: those posted before an open() mean the photo that it replaces.
std::optional<PhotoSession::Job> PhotoSession::nextJob(std::stop_token quit) {
    std::unique_lock lock(mutex_);
    running_.reset();
    const auto urgent = [this] { return !errands_.empty() || open_ || quick_; };
    while (!quit.stop_requested()) {
        std::optional<Job> job;
        if (!errands_.empty()) {
            job = std::move(errands_.front());
            errands_.pop_front();
        } else if (open_) {
            job = std::move(open_);
            open_.reset();
        } else if (quick_) {
            job = Job{JobKind::quick, [this, request = *quick_](std::stop_token stop) { renderQuick(request, stop); }};
            quick_.reset();
        } else if (!settled_) {
            wake_.wait(lock, quit, [&] { return urgent() || settled_; });
        } else if (!wake_.wait_for(lock, quit, kQuietBeforeSettled, urgent) && settled_ && !quit.stop_requested()) {
            job = Job{JobKind::settled, [this, request = *settled_](std::stop_token stop) {
                          renderAt(request, shrunkTo(cutout_->source()->size(), request.side), stop);
                      }};
            settled_.reset();
        }
        if (!job) continue;
        running_ = job->kind;
        jobStop_ = std::stop_source{};
        return job;
    }
    return std::nullopt;
}

void PhotoSession::work(std::stop_token quit) {
    bool goesOn = true;
    const auto doNext = [&] {
        const auto job = nextJob(quit);
        goesOn = job.has_value();
        if (!job) return;
        std::stop_token stop;
        {
            const std::lock_guard lock(mutex_);
            if (quit.stop_requested()) jobStop_.request_stop();
            stop = jobStop_.get_token();
        }
        perform(*job, stop);
    };
    while (goesOn) guarded(doNext, untold);  // what could not even be told
    // The engine is made, used and destroyed on this thread.
    cutout_.reset();
    engine_.reset();
}

void PhotoSession::perform(const Job& job, std::stop_token stop) {
    const bool waitedFor = job.kind == JobKind::open || job.kind == JobKind::errand;
    try {
        job.run(stop);
    } catch (const Cancelled&) {
        if (waitedFor) Q_EMIT cancelled();
    } catch (const Error& error) {
        Q_EMIT failed(QString::fromStdString(error.what()), error.category);
    } catch (const std::bad_alloc&) {
        Q_EMIT failed(tr("There is not enough memory: close other programs or open a smaller photo."),
                      ErrorCategory::engine);
    } catch (const std::exception& error) {
        Q_EMIT failed(tr("Something went wrong inside Matte (%1): try again, and report it if it stays.")
                          .arg(QString::fromLocal8Bit(error.what())),
                      ErrorCategory::engine);
    }
    if (waitedFor) Q_EMIT busyChanged({});
}

PhotoEngine& PhotoSession::engine() {
    if (!engine_) {
        engine_ = makeEngine_();
        Q_EMIT engineReady(engine_->info());
    }
    return *engine_;
}

/// What was asked for while a photo was being opened means the one that is still shown.
void PhotoSession::finishErrands() {
    for (;;) {
        std::optional<Job> errand;
        {
            const std::lock_guard lock(mutex_);
            if (errands_.empty()) return;
            errand = std::move(errands_.front());
            errands_.pop_front();
        }
        perform(*errand, {});
    }
}

void PhotoSession::openNow(const PhotoSource& source, std::stop_token stop) {
    OpenedPhoto photo;
    photo.name = source.name;
    photo.path = QString::fromStdString(source.file.string());
    Q_EMIT busyChanged(tr("Reading %1").arg(source.name));
    const Stopwatch watch;
    photo.image = source.file.empty() ? fromQImage(source.pixels) : readImage(source.file, stop);
    photo.times.push_back({Stage::decode, watch.ms()});
    stopIfAsked(stop);
    const Size small = previewSize(photo.image->size());
    photo.preview = small == photo.image->size()
                        ? photo.image
                        : std::make_shared<const Image>(resampleToImage(photo.image->view(), small));
    if (!engine_) Q_EMIT busyChanged(tr("Loading the model"));
    PhotoEngine& used = engine();
    stopIfAsked(stop);
    Q_EMIT busyChanged(tr("Cutting out"));
    auto cutout = used.cutOut(photo.image, stop);
    stopIfAsked(stop);
    for (const StageTime& stage : cutout->times()) photo.times.push_back(stage);
    finishErrands();
    photo.number = ++photoNumber_;
    cutout_ = std::move(cutout);  // only now: a failure above leaves the open photo as it was
    photoPath_ = source.file;
    Q_EMIT opened(photo);
}

Size PhotoSession::quickSize(Size whole, int side) const {
    const int wanted = std::min({side, whole.longest(), previewSize(whole).longest()});
    return shrunkTo(whole, std::max(1, int(wanted * kQuickScales[quickScale_])));
}

void PhotoSession::adaptQuickScale(double ms) {
    if (ms > kQuickMs) {
        quickScale_ = std::min(quickScale_ + 1, std::size(kQuickScales) - 1);
    } else if (quickScale_ > 0) {
        const double growth = std::pow(kQuickScales[quickScale_ - 1] / kQuickScales[quickScale_], 2);
        if (ms * growth < 0.6 * kQuickMs) --quickScale_;  // well below, or it would go to and fro
    }
}

void PhotoSession::renderQuick(const RenderRequest& request, std::stop_token stop) {
    if (!cutout_ || request.showing == Showing::original) return;  // the viewport has the original already
    const Size whole = cutout_->source()->size();
    const Size size = quickSize(whole, request.side);
    adaptQuickScale(renderAt(request, size, stop));
    if (size == shrunkTo(whole, request.side)) return;
    const std::lock_guard lock(mutex_);
    if (!quick_) settled_ = request;
}

// Returns the milliseconds that grow with the size.
double PhotoSession::renderAt(const RenderRequest& request, Size size, std::stop_token stop) {
    const Stopwatch watch;
    std::shared_ptr<const Image> image;
    StageTimes times;
    if (request.showing == Showing::matte) {
        image = std::make_shared<const Image>(engine().matte(*cutout_, request.params, size, stop));
    } else {
        const Output output = engine().composite(*cutout_, paramsFor(request), size, stop);
        image = output.picture->image();
        times = output.times;
    }
    const double ms = watch.ms();
    Q_EMIT rendered({image, request, size == cutout_->source()->size(), ms});
    const auto stage = std::ranges::find(times, Stage::composite, &StageTime::stage);
    return stage == times.end() ? ms : stage->ms;
}

void PhotoSession::exportNow(const std::filesystem::path& path, const CompositeParams& params, std::stop_token stop) {
    if (!cutout_) return;
    if (!photoPath_.empty() && isSameFile(path, photoPath_)) {
        throw Error(ErrorCategory::output, "That would overwrite the photo itself: choose another name or folder.");
    }
    Q_EMIT busyChanged(tr("Exporting"));
    const Output output = engine().composite(*cutout_, params, cutout_->source()->size(), stop);
    stopIfAsked(stop);
    writeImage(path, output.picture->image()->view());
    Q_EMIT exported(QString::fromStdString(path.string()));
}

}  // namespace matte
