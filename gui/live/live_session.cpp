// SPDX-License-Identifier: Apache-2.0
#include "gui/live/live_session.h"

#include <tuple>
#include <utility>

namespace matte {
namespace {

/// Of which statusChanged() tells each change.
auto told(const LiveStatus& s) {
    return std::tie(s.state, s.capturing, s.sourceProblem, s.engineProblem, s.matteProblem, s.backgroundProblem,
                    s.switchProblem, s.switching, s.personHidden, s.source.size, s.source.name, s.source.rate,
                    s.source.format, s.engine.name, s.engine.reason, s.engine.warnings);
}

}  // namespace

LiveSession::LiveSession(MakeLiveEngines makeEngines, OpenSource open, QObject* parent)
    : QObject(parent), open_(std::move(open)), pipeline_(std::move(makeEngines), [this] { postNews(); }) {}

void LiveSession::postNews() {
    if (!newsPosted_.exchange(true)) QMetaObject::invokeMethod(this, &LiveSession::takeNews, Qt::QueuedConnection);
}

void LiveSession::start(const LiveSource& source) {
    source_ = source;
    on_ = shows_ = true;
    presented_ = 0;
    newest_.reset();
    status_.state = LiveStatus::State::stopped;  // so that it is told, even if this run is where the last one ended
    pipeline_.start([this, open = open_, opening = std::make_shared<const LiveSource>(source)](PixelMemory memory,
                                                                                               std::stop_token stop) {
        {
            const std::scoped_lock lock(mutex_);
            opened_ = opening;
        }
        postNews();
        CaptureSettings settings = opening->capture();
        settings.memory = memory;
        return open(opening->spec, settings, std::move(stop));
    });
    takeNews();
}

void LiveSession::stop() {
    on_ = shows_ = false;
    newest_.reset();  // who stopped does not want to be in a snapshot either
    pipeline_.stop();
    takeNews();
}

void LiveSession::presented(const Live& live, double ms) {
    pipeline_.presented(*live, ms);
    if (!live->placeholder) Q_EMIT framePresented(++presented_);
}

LiveStage LiveSession::stage() const {
    if (!on_) return status_.capturing ? LiveStage::closing : LiveStage::off;
    if (status_.state == LiveStatus::State::lost) return LiveStage::waiting;
    return newest_ ? LiveStage::running : LiveStage::opening;
}

void LiveSession::takeNews() {
    newsPosted_ = false;  // before looking: what changes from here on is told again
    if (const Live live = pipeline_.newest(); shows_ && live && live != newest_) {
        newest_ = live;
        Q_EMIT pictureChanged(live);
    }
    if (const Live cutout = pipeline_.takeCutout()) Q_EMIT cutoutCame(cutout);
    LiveStatus status = pipeline_.status();
    std::unique_lock lock(mutex_);
    std::shared_ptr<const LiveSource> captured = opened_;
    lock.unlock();
    if (told(status) == told(status_) && captured == captured_) return;
    status_ = std::move(status);
    captured_ = std::move(captured);
    if (status_.state == LiveStatus::State::ended) on_ = false;
    Q_EMIT statusChanged(status_);
}

}  // namespace matte
