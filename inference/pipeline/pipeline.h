// SPDX-License-Identifier: Apache-2.0
// Pipeline: live frames from a source through the engine to whoever shows them. Two threads of its own: one reads the
// source into a mailbox for one frame, where a newer frame replaces one that waits; the other keeps the engine's slots
// busy and publishes the newest finished picture. It fails closed: without a usable matte the last good composite or
// the background alone is shown, never the room.
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

/// What to show now.
struct LivePicture {
    std::shared_ptr<const Picture> picture;
    std::uint64_t frame = 0;  ///< its number in its source
    std::chrono::steady_clock::time_point captured;
    bool placeholder = false;  ///< the background alone: the person is hidden, or there is no composite yet
    bool repeated =
        false;  ///< its frame may have been shown before: in other parameters, or until the person was hidden
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

/// Every function by any thread, and none waits for the engine or the source; only the destructor does.
class Pipeline {
public:
    /// Frames kept in `memory` need not be copied before the engine's device reads them.
    using OpenSource = std::function<std::unique_ptr<FrameSource>(PixelMemory memory, std::stop_token stop)>;

    /// The engine is made on the worker when the first source starts. `onNews` is called on both threads after every
    /// change of newest() or status(): it may only post an event.
    Pipeline(MakeLiveEngines makeEngines, std::function<void()> onNews);
    /// Stops and waits for both threads.
    ~Pipeline();
    Pipeline(const Pipeline&) = delete;
    Pipeline& operator=(const Pipeline&) = delete;

    /// Closes the source before and opens this one once the engine is made, on the capture thread; statistics and
    /// newest() begin anew. A source that is lost is opened again until it is back.
    void start(OpenSource open);
    /// Looks for a lost source now: something was plugged in.
    void retrySource();
    /// Closes the source; newest() and the statistics stay.
    void stop();
    /// Replaces the engines between two frames, as soon as the new ones are ready (engine_supply.h). No frame is lost,
    /// and the engines before stay when the new ones can't be made.
    void setEngines(MakeLiveEngines makeEngines) {
        supply_.change(std::move(makeEngines));
        announce();
    }
    /// From the next frame on; the last frame again when no newer one comes.
    void setParams(const CompositeParams& params);
    /// The panic key: newest() is the background alone from the return of this call on.
    void hidePerson(bool hidden);
    /// The first time, what the engine's device reaches at best is measured too, in steps between the frames.
    void timeLayers(bool on);
    /// The next frame is composited without a background, for takeCutout(): newest() never shows it. The last frame
    /// once more when no newer one comes.
    void requestCutout();
    /// Takes the last request back, and what came of it. A cut-out that is under way may still come.
    void dropCutout();
    /// What was asked for, once; null while it isn't there, and for good when the engine failed at it, its matte was
    /// not usable, or the person was hidden.
    [[nodiscard]] std::shared_ptr<const LivePicture> takeCutout();
    /// Null ends it. The caller finishes the trace.
    void record(std::shared_ptr<Trace> trace);
    [[nodiscard]] bool recording() const {
        const std::scoped_lock lock(mutex_);
        return trace_ != nullptr;
    }

    /// Null before the first frame of the first source.
    [[nodiscard]] std::shared_ptr<const LivePicture> newest() const;
    [[nodiscard]] LiveStatus status() const;
    [[nodiscard]] LiveStatistics statistics() const;
    /// `live` has reached the screen; presenting it took the GUI thread `ms`.
    void presented(const LivePicture& live, double ms);

private:
    struct Opening {
        OpenSource open;
        std::uint64_t generation;
        std::stop_token stop;
    };
    /// What goes with a frame under way.
    struct UnderWay {
        std::chrono::steady_clock::time_point submitted;
        std::optional<float> waitMs;  ///< before it came; empty for a source's first and for one shown again
        bool repeated;                ///< LivePicture's
        bool alone;                   ///< without a background, for takeCutout()
    };
    /// What the worker is to do next.
    struct Order {
        std::uint64_t generation = 0;
        std::optional<Frame> frame;
        std::optional<float> waitMs;  ///< as in UnderWay
        std::chrono::steady_clock::time_point waitBegan, waitEnded;
        CompositeParams params;
        bool makeEngine = false, changeEngine = false, timeLayers = false, measureRates = false, repeated = false,
             alone = false;
        std::shared_ptr<Trace> trace;
        std::shared_ptr<LoopingVideo> ended;  ///< goes with the order, when nobody waits for the lock
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
    Size layersFor_;           ///< frame size at which the layers were asked for
    bool fineDetail_ = false;  ///< of the frame that came last
    std::chrono::steady_clock::time_point engineTold_;
    int changesTold_ = 0;  ///< LiveQueue::changes()

    mutable std::mutex mutex_;  ///< guards everything that follows
    std::condition_variable_any wake_;
    bool engineWanted_ = false, makeAnew_ = true, engineMissing_ = false;
    bool engineTried_ = false;      ///< it is made, or can't be: a source may open
    PixelMemory frameMemory_;       ///< the engine's
    std::uint64_t generation_ = 0;  ///< counts the sources
    std::optional<Opening> opening_;
    std::stop_source sourceStop_;
    std::shared_ptr<ResumingSource> source_;  ///< the open one
    std::optional<Frame> waiting_;
    CompositeParams params_;
    bool paramsChanged_ = false, timeLayers_ = false;
    std::shared_ptr<Trace> trace_;
    std::shared_ptr<const LivePicture> shown_, placeholderPicture_, cutout_;
    bool cutoutWanted_ = false;
    bool ratesWanted_ = false;  ///< whether rates_ are to be measured when they are not known
    std::optional<MachineRates> rates_;
    LiveStatus status_;
    LiveMeter meter_;
    std::shared_ptr<LoopingVideo> video_;  ///< behind the person; begun and replaced by the worker, ended by any thread

    EngineSupply<UnderWay> supply_;  ///< for the worker

    std::jthread worker_, capturer_;  ///< last, so that they start after and end before everything that they use
};

}  // namespace matte
