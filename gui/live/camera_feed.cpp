// SPDX-License-Identifier: Apache-2.0
#include "gui/live/camera_feed.h"

#include <chrono>

#include "inference/core/error.h"
#include "inference/core/thread.h"

namespace matte {
namespace {

/// A picture that can't be fetched from its device is left out: another engine takes over.
void show(VirtualCamera& camera, const LiveSession::Live& live) {
    std::shared_ptr<const Image> image;
    try {
        if (live) image = live->picture->image();
    } catch (const Error&) {
        return;
    }
    if (image) {
        camera.show(image->view());
    } else {
        camera.showNothing();
    }
}

/// How soon somebody who begins to watch, or the camera's end, is noticed.
constexpr std::chrono::milliseconds kPoll{50};

}  // namespace

void CameraFeed::start() {
    stop();
    const auto tell = [this](const char* sentence, ErrorCategory) { Q_EMIT failed(sentence); };
    guarded(
        [&] {
            thread_ = startThread(
                "a virtual camera", ErrorCategory::output,
                [this, run = run_](const std::stop_token& stop) { work(stop, run); }, untold);
        },
        tell);
}

void CameraFeed::stop() {
    ++run_;
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
    thread_ = {};
    isWatched_ = false;
}

void CameraFeed::work(const std::stop_token& stop, int run) {
    const auto say = [this, run](auto news) {
        QMetaObject::invokeMethod(this, [this, run, news] {
            if (run == run_) news();
        });
    };
    const auto tell = [&](const QString& problem) {
        if (problem.isEmpty()) return;
        say([this, problem] {
            this->stop();
            Q_EMIT failed(problem);
        });
    };
    const auto serve = [&] {
        const auto camera = open_(stop);
        QStringList names;
        for (const auto& name : camera->names()) names.append(QString::fromStdString(name));
        names.removeDuplicates();
        say([this, names] { Q_EMIT started(names); });
        feed(*camera, stop);
        tell(QString::fromStdString(camera->problem()));
    };
    guarded(serve, [&](const char* sentence, ErrorCategory) { tell(sentence); });
}

void CameraFeed::feed(VirtualCamera& camera, const std::stop_token& stop) {
    bool wasWatched = false;
    while (!stop.stop_requested() && camera.problem().empty()) {
        LiveSession::Live newest;
        const bool changed = pictures_.take(newest, kPoll, stop);
        if (changed) live_ = std::move(newest);
        const bool isWatched = isWatched_ = camera.isWatched();
        if (isWatched && (changed || !wasWatched)) show(camera, live_);
        wasWatched = isWatched;
    }
}

}  // namespace matte
