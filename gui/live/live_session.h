// SPDX-License-Identifier: Apache-2.0
// LiveSession: the live pipeline for the window. News of its threads arrive as signals through the event queue, at most
// one event at a time. No call waits for the engine or the source. GUI thread.
//
//     LiveSession session(makeEngines);
//     connect(&session, &LiveSession::pictureChanged, &viewport, &Viewport::setLive);
//     session.start(liveSourceFrom("test:person"));
#pragma once

#include <QObject>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

#include "gui/live/live_source.h"
#include "inference/pipeline/pipeline.h"

namespace matte {

/// The state of a run, for all parts of the window that show it.
enum class LiveStage {
    off = 1,  ///< or at its end
    closing,  ///< stopped, and the source is not closed yet
    opening,  ///< until its first picture
    waiting,  ///< for a source that is lost, or never was there
    running
};

class LiveSession : public QObject {
    Q_OBJECT
    Q_DISABLE_COPY_MOVE(LiveSession)

public:
    using OpenSource =
        std::function<std::unique_ptr<FrameSource>(const SourceSpec&, const CaptureSettings&, std::stop_token)>;
    using Live = std::shared_ptr<const LivePicture>;

    /// Nothing runs before start(), and no engine is made. `openSource` is called on the capture thread.
    explicit LiveSession(MakeLiveEngines makeEngines, OpenSource open = openNamed, QObject* parent = nullptr);
    /// openSource() as an OpenSource: what the window uses.
    static std::unique_ptr<FrameSource> openNamed(const SourceSpec& spec,
                                                  const CaptureSettings& settings,
                                                  const std::stop_token& stop) {
        return openSource(spec, settings, stop);
    }

    void start(const LiveSource& source);
    void stop();
    void retrySource() { pipeline_.retrySource(); }
    void setEngines(MakeLiveEngines makeEngines) { pipeline_.setEngines(std::move(makeEngines)); }
    void setParams(const CompositeParams& params) { pipeline_.setParams(params); }
    /// The person is gone from the window when this returns.
    void hidePerson(bool hidden) {
        pipeline_.hidePerson(hidden);
        takeNews();
    }
    void timeLayers(bool on) { pipeline_.timeLayers(on); }
    void record(std::shared_ptr<Trace> trace) { pipeline_.record(std::move(trace)); }
    [[nodiscard]] bool recording() const { return pipeline_.recording(); }
    /// `live` has reached the screen; that took the GUI thread `ms`.
    void presented(const Live& live, double ms);

    /// The person of the next frame without a background goes to cutoutCame(), and nowhere else; until dropCutout().
    void requestCutout() { pipeline_.requestCutout(); }
    void dropCutout() { pipeline_.dropCutout(); }
    [[nodiscard]] const Live& newest() const { return newest_; }
    /// Started, and neither stopped nor ended since. A source that is lost is still on: it is looked for.
    [[nodiscard]] bool isOn() const { return on_; }
    [[nodiscard]] LiveStage stage() const;
    [[nodiscard]] const LiveSource& source() const { return source_; }
    /// What status().capturing is about: for a moment still the source before, until that is closed.
    [[nodiscard]] const LiveSource& captured() const { return *captured_; }
    [[nodiscard]] const LiveStatus& status() const { return status_; }
    [[nodiscard]] LiveStatistics statistics() const { return pipeline_.statistics(); }
    /// Pictures with the person that were presented since start().
    [[nodiscard]] std::uint64_t framesPresented() const { return presented_; }

Q_SIGNALS:
    void pictureChanged(const matte::LiveSession::Live& live);
    void cutoutCame(const matte::LiveSession::Live& live);
    void statusChanged(const matte::LiveStatus& status);
    void framePresented(quint64 frames);

private:
    void postNews();
    void takeNews();

    LiveSource source_;
    std::shared_ptr<const LiveSource> captured_ = std::make_shared<const LiveSource>();  ///< compared at every frame
    LiveStatus status_;
    Live newest_;
    OpenSource open_;
    std::uint64_t presented_ = 0;
    bool on_ = false;
    bool shows_ = false;  ///< until stop(): a source that ended is still shown
    std::mutex mutex_;
    std::shared_ptr<const LiveSource> opened_ = captured_;  ///< guarded: the capture thread opened it last
    std::atomic<bool> newsPosted_ = false;  ///< one event at a time: a slow window is not buried in them
    Pipeline pipeline_;                     ///< last: its threads end before what they use
};

}  // namespace matte

Q_DECLARE_METATYPE(matte::LiveStatus)
