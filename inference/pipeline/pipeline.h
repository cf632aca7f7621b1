// SPDX-License-Identifier: Apache-2.0
// Pipeline: runs live frames from a source through the engine to the presenter, on two threads. The capture thread
// reads the source into a one-frame mailbox, where a newer frame replaces a waiting one; the worker thread keeps the
// engine's slots busy and publishes the newest finished picture. It fails closed: without a usable matte it shows the
// last good composite or the background alone, never the room.
//
//     Pipeline pipeline(makeEngines, [&] { post([&] { view.update(); }); });
//     pipeline.start([](PixelMemory memory, std::stop_token stop) {
//         return openSource(parseSource("camera"), {.memory = memory}, stop);
//     });
//     if (auto live = pipeline.newest()) presenter.show(*live->picture);
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "inference/core/error.h"
#include "inference/engine/live_queue.h"
#include "inference/media/resuming_source.h"
#include "inference/pipeline/engine_supply.h"
#include "inference/pipeline/looping_video.h"
#include "inference/pipeline/privacy_placeholder.h"
#include "inference/pipeline/statistics.h"
#include "inference/pipeline/trace.h"

namespace matte {

/// The picture to show.
struct LivePicture {
    std::shared_ptr<const Picture> picture;
    std::uint64_t frame = 0;  ///< Frame::number
    std::chrono::steady_clock::time_point captured;
    bool placeholder = false;  ///< the background alone: the person is hidden, or there is no composite yet
    bool repeated = false;     ///< the frame may have been shown before, with other parameters or before hiding
};

struct LiveStatus {
    enum class State { stopped = 1, opening, running, ended, lost };
    State state = State::stopped;  ///< lost: it is opened again until it is back; ended: it is not
    bool capturing = false;        ///< a source may be on, in any state: it is being opened, read or closed
    SourceInfo source;             ///< while running and after
    std::string sourceProblem;     ///< with State::lost, and ended before its end: what happened and what to do
    ErrorCategory sourceCategory =
        ErrorCategory::source;  ///< what sourceProblem is about: input for a file that can't be read
    EngineInfo engine;          ///< once it is made
    std::string engineProblem;  ///< why no new composites come; empty again with the next one
    std::string switchProblem;  ///< why the engines of the last setEngines() can't be had; those before run
    bool switching = false;     ///< the engines of the last setEngines() do not run yet; those before do
    ErrorCategory engineCategory = ErrorCategory::engine;  ///< what engineProblem is about
    std::string matteProblem;       ///< why some frame of the last second is not shown, as LiveMeter says it
    std::string backgroundProblem;  ///< why the video behind the person stands still, or what of it is missing
    bool personHidden = false;
};

/// Any thread may call any function; only the destructor waits for the engine or the source.
class Pipeline {
public:
    /// Opens a source. Frames allocated in `memory` need not be copied before the engine's device reads them.
    using OpenSource = std::function<std::unique_ptr<FrameSource>(PixelMemory memory, std::stop_token stop)>;

    /// The worker creates the engine when the first source starts. `onNews` is called on both threads after each change
    /// of newest() or status(), and may only post an event.
    Pipeline(MakeLiveEngines makeEngines, std::function<void()> onNews);
    /// Stops and waits for both threads.
    ~Pipeline();
    Pipeline(const Pipeline&) = delete;
    Pipeline& operator=(const Pipeline&) = delete;

    /// Closes the current source and, once the engine exists, opens the new one on the capture thread; resets
    /// statistics and newest(). A lost source is reopened until it is back.
    void start(OpenSource open);
    /// Tries to reopen a lost source now, because a device was plugged in.
    void retrySource();
    /// Closes the source; newest() and the statistics remain.
    void stop();
    /// Replaces the engines between two frames, as soon as the new ones are ready (engine_supply.h). No frame is lost,
    /// and the engines before stay when the new ones can't be made.
    void setEngines(MakeLiveEngines makeEngines) {
        supply_.change(std::move(makeEngines));
        announce();
    }
    /// From the next frame on; the last frame again when no newer one comes.
    void setParams(const CompositeParams& params);
    /// The panic key: once this returns, newest() is the background alone.
    void hidePerson(bool hidden);
    /// As LiveEngine::timeLayers(). The first call also measures the device's peak rates, in steps between frames.
    void timeLayers(bool on);
    /// Composites one frame, the next or else the last one again, without a background for takeCutout(). newest() never
    /// shows it.
    void requestCutout();
    /// Cancels the last request and discards its result. A cut-out that is under way may still arrive.
    void dropCutout();
    /// Returns the requested cut-out once; null while it is not ready, and permanently if the engine failed, the matte
    /// was not usable or the person was hidden.
    [[nodiscard]] std::shared_ptr<const LivePicture> takeCutout();
    /// Records into `trace`, which the caller finishes; null stops recording.
    void record(std::shared_ptr<Trace> trace);
    [[nodiscard]] bool recording() const {
        const std::scoped_lock lock(mutex_);
        return trace_ != nullptr;
    }

    /// Null before the first frame of the first source.
    [[nodiscard]] std::shared_ptr<const LivePicture> newest() const;
    [[nodiscard]] LiveStatus status() const;
    [[nodiscard]] LiveStatistics statistics() const;
    /// Reports that `live` has reached the screen and that presenting it took the GUI thread `ms` milliseconds.
    void presented(const LivePicture& live, double ms);

private:
    struct Opening {
        OpenSource open;
        std::uint64_t generation;
        std::stop_token stop;
    };
    /// Data for each frame under way.
    struct UnderWay {
        std::chrono::steady_clock::time_point submitted;
        std::optional<float> waitMs;  ///< wait for the frame; empty for a source's first and a repeated frame
        bool repeated;                ///< LivePicture::repeated
        bool alone;                   ///< without a background, for takeCutout()
    };
    /// The worker's next task.
    struct Order {
        std::uint64_t generation = 0;
        std::optional<Frame> frame;
        std::optional<float> waitMs;  ///< as in UnderWay
        std::chrono::steady_clock::time_point waitBegan, waitEnded;
        CompositeParams params;
        bool makeEngine = false, changeEngine = false, timeLayers = false, measureRates = false, repeated = false,
             alone = false;
        std::shared_ptr<Trace> trace;
        std::shared_ptr<LoopingVideo> ended;  ///< destroyed with the order, outside the lock
    };

    void capture(const std::stop_token& quit);
    void readFrom(const Opening& opening);
    void post(const Frame& frame, std::uint64_t generation);
    void showPlaceholder(Size size);
    void tell(std::uint64_t generation,
              LiveStatus::State state,
              const std::string& problem,
              const SourceInfo& source = {},
              ErrorCategory category = ErrorCategory::source);
    void tellCapturing(bool on);

    void work(const std::stop_token& quit);
    std::optional<Order> nextOrder(const std::stop_token& quit);
    void playBehind(Order& order);
    void carryOut(Order& order);
    void enginesChanged();
    void announce();
    void submit(const Order& order);
    void deliver(const Order& order);
    void measureRates();
    [[nodiscard]] bool onceMore() const;
    void tellEngine(EngineInfo info, bool isAnother = false);
    void engineFailed(const std::string& sentence, ErrorCategory category = ErrorCategory::engine);

    const std::function<void()> onNews_;

    // Capture thread only.
    PrivacyPlaceholder placeholder_;

    // Worker only.
    std::unique_ptr<LiveQueue<UnderWay>> queue_;    ///< null: the engine could not be made
    std::chrono::steady_clock::duration waited_{};  ///< for a frame, since the last one came
    std::uint64_t workingOn_ = 0;                   ///< generation of what is under way
    std::optional<Frame> last_;  ///< composited again when the parameters change and no newer frame comes
    bool timingLayers_ = false;
    Size layersFor_;           ///< frame size of the last layers() query
    bool fineDetail_ = false;  ///< of the last frame
    std::chrono::steady_clock::time_point engineTold_;
    int changesTold_ = 0;  ///< LiveQueue::changes()

    mutable std::mutex mutex_;  ///< guards the members below
    std::condition_variable_any wake_;
    bool engineWanted_ = false, makeAnew_ = true, engineMissing_ = false;
    bool engineTried_ = false;      ///< the engine exists or its creation failed: a source may open
    PixelMemory frameMemory_;       ///< the engine's
    std::uint64_t generation_ = 0;  ///< number of sources started
    std::optional<Opening> opening_;
    std::stop_source sourceStop_;
    std::shared_ptr<ResumingSource> source_;  ///< the open source
    std::optional<Frame> waiting_;
    CompositeParams params_;
    bool paramsChanged_ = false, timeLayers_ = false;
    std::shared_ptr<Trace> trace_;
    std::shared_ptr<const LivePicture> shown_, placeholderPicture_, cutout_;
    bool cutoutWanted_ = false;
    bool ratesWanted_ = false;  ///< measure rates_ if they are unknown
    std::optional<MachineRates> rates_;
    LiveStatus status_;
    LiveMeter meter_;
    std::shared_ptr<LoopingVideo> video_;  ///< background; created and replaced by the worker, ended by any thread

    EngineSupply<UnderWay> supply_;  ///< for the worker

    std::jthread worker_, capturer_;  ///< last, so that they start after and end before everything that they use
};

}  // namespace matte
