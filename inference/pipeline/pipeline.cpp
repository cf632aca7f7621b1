// SPDX-License-Identifier: Apache-2.0
#include "inference/pipeline/pipeline.h"

#include <tuple>
#include <utility>

#include "inference/core/error.h"
#include "inference/core/thread.h"

namespace matte {
namespace {

using Clock = std::chrono::steady_clock;
using State = LiveStatus::State;

constexpr std::chrono::milliseconds kEngineNews{250};

bool moves(const Background& background) {
    return background.kind == Background::Kind::image && background.moving;
}

}  // namespace

Pipeline::Pipeline(MakeLiveEngines makeEngines, std::function<void()> onNews)
    : onNews_(std::move(onNews)),
      supply_(std::move(makeEngines), [this] { announce(); }),
      worker_(startThread(
          "live pictures", ErrorCategory::engine, [this](const std::stop_token& quit) { work(quit); }, untold)),
      capturer_(startThread(
          "live pictures", ErrorCategory::source, [this](const std::stop_token& quit) { capture(quit); }, untold)) {}

Pipeline::~Pipeline() {
    {
        const std::scoped_lock lock(mutex_);
        sourceStop_.request_stop();
    }
    capturer_.request_stop();
    worker_.request_stop();
}

void Pipeline::start(OpenSource open) {
    {
        const std::scoped_lock lock(mutex_);
        sourceStop_.request_stop();
        sourceStop_ = {};
        opening_ = {std::move(open), ++generation_, sourceStop_.get_token()};
        engineWanted_ = true;
        makeAnew_ = makeAnew_ || engineMissing_;
        waiting_.reset();
        shown_.reset();
        cutout_.reset();
        cutoutWanted_ = false;
        meter_.clear();
        status_.state = State::opening;
        status_.source = {};
        status_.sourceProblem.clear();
        status_.engineProblem.clear();  // it is made, or asked, again
        status_.matteProblem.clear();
    }
    announce();
}

void Pipeline::stop() {
    {
        const std::scoped_lock lock(mutex_);
        sourceStop_.request_stop();
        if (video_) video_->end();
        opening_.reset();
        waiting_.reset();
        status_.state = State::stopped;
        status_.sourceProblem.clear();
        status_.matteProblem.clear();
        status_.backgroundProblem.clear();
    }
    onNews_();
}

void Pipeline::retrySource() {
    const std::scoped_lock lock(mutex_);
    if (source_) source_->retryNow();
}

/// Wakes the worker, and tells the owner: what supply_ says has changed.
void Pipeline::announce() {
    { const std::scoped_lock lock(mutex_); }  // or a worker that has just looked would go to sleep
    wake_.notify_all();
    onNews_();
}

void Pipeline::setParams(const CompositeParams& params) {
    {
        const std::scoped_lock lock(mutex_);
        if (params == params_) return;
        const Background& behind = params.background;
        if (video_ && (!moves(behind) || behind.imagePath != video_->path())) video_->end();
        params_ = params;
        paramsChanged_ = true;
    }
    wake_.notify_all();
}

void Pipeline::hidePerson(bool hidden) {
    {
        const std::scoped_lock lock(mutex_);
        if (!hidden && shown_) {
            auto again = std::make_shared<LivePicture>(*shown_);
            again->repeated = true;
            shown_ = std::move(again);
        }
        status_.personHidden = hidden;
    }
    onNews_();
}

void Pipeline::timeLayers(bool on) {
    const std::scoped_lock lock(mutex_);
    timeLayers_ = on;
    ratesWanted_ = ratesWanted_ || on;
    wake_.notify_all();
}

void Pipeline::requestCutout() {
    {
        const std::scoped_lock lock(mutex_);
        cutoutWanted_ = true;
        cutout_.reset();
    }
    wake_.notify_all();
}

void Pipeline::dropCutout() {
    const std::scoped_lock lock(mutex_);
    cutoutWanted_ = false;
    cutout_.reset();
}

std::shared_ptr<const LivePicture> Pipeline::takeCutout() {
    const std::scoped_lock lock(mutex_);
    return status_.personHidden ? nullptr : std::exchange(cutout_, nullptr);
}

void Pipeline::record(std::shared_ptr<Trace> trace) {
    const std::scoped_lock lock(mutex_);
    trace_ = std::move(trace);
}

std::shared_ptr<const LivePicture> Pipeline::newest() const {
    const std::scoped_lock lock(mutex_);
    return shown_ && !status_.personHidden ? shown_ : placeholderPicture_;
}

LiveStatus Pipeline::status() const {
    const std::scoped_lock lock(mutex_);
    LiveStatus status = status_;
    std::tie(status.switching, status.switchProblem) = supply_.state();
    return status;
}

LiveStatistics Pipeline::statistics() const {
    auto [meter, rates] = [this] {
        const std::scoped_lock lock(mutex_);
        return std::pair(meter_, rates_);
    }();
    LiveStatistics statistics = meter.statistics(Clock::now());  // sorts many samples: not while the worker waits
    statistics.rates = std::move(rates);
    return statistics;
}

void Pipeline::presented(const LivePicture& live, double ms) {
    const auto now = Clock::now();
    const std::scoped_lock lock(mutex_);
    if (!live.placeholder)
        meter_.presented(now, live.repeated ? std::nullopt : std::optional(live.captured), float(ms));
    if (!trace_) return;
    const auto begin = now - std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double, std::milli>(ms));
    trace_->add("window", "present", begin, now, live.frame);
}

// --- The capture thread ---

void Pipeline::capture(const std::stop_token& quit) {
    for (;;) {
        std::optional<Opening> opening;
        {
            std::unique_lock lock(mutex_);
            wake_.wait(lock, quit, [this] { return opening_.has_value() && engineTried_; });
            if (quit.stop_requested()) return;
            opening = std::exchange(opening_, std::nullopt);
        }
        const auto failed = [&](const char* sentence, ErrorCategory category) {
            tell(opening->generation, State::ended, sentence, {}, category);  // a file will not come back
        };
        guarded([&] { readFrom(*opening); }, failed, ErrorCategory::source);
        std::shared_ptr<ResumingSource> closed;  // when nobody waits for the lock
        const std::scoped_lock lock(mutex_);
        closed = std::exchange(source_, nullptr);
    }
}

void Pipeline::readFrom(const Opening& opening) {
    const auto generation = opening.generation;
    bool running = false;
    const auto open = [&](const std::stop_token& stop) {
        const PixelMemory memory = [this] {
            const std::scoped_lock lock(mutex_);
            return frameMemory_;
        }();
        tellCapturing(true);
        std::shared_ptr<void> on(this, [](void* self) { static_cast<Pipeline*>(self)->tellCapturing(false); });
        return std::make_unique<HoldingSource<std::shared_ptr<void>>>(std::move(on),
                                                                      [&] { return opening.open(memory, stop); });
    };
    const auto source = std::make_shared<ResumingSource>(open, [&](const std::string& lost) {
        if (!lost.empty()) tell(generation, State::lost, lost);
        running = false;
    });
    std::optional<Size> before;  // of the placeholder to show until this source has a frame, if ever
    {
        const std::scoped_lock lock(mutex_);
        source_ = source;
        if (placeholderPicture_) before = placeholderPicture_->picture->size();
    }
    if (before) showPlaceholder(*before);
    while (const auto frame = source->read(opening.stop)) {
        if (!std::exchange(running, true)) tell(generation, State::running, "", source->info());
        showPlaceholder(frame->image->size());
        post(*frame, generation);
    }
    if (!opening.stop.stop_requested()) tell(generation, State::ended, "", source->info());
}

/// On the capture thread: fitting the picture takes too long for the GUI thread, and the worker may be blocked in the
/// engine.
void Pipeline::showPlaceholder(Size size) {
    const Background background = [this] {
        const std::scoped_lock lock(mutex_);
        return params_.background;
    }();
    auto picture = placeholder_.over(background, size);
    {
        const std::scoped_lock lock(mutex_);
        if (placeholderPicture_ && placeholderPicture_->picture == picture) return;
        placeholderPicture_ =
            std::make_shared<LivePicture>(LivePicture{std::move(picture), 0, Clock::now(), true, false});
    }
    onNews_();
}

void Pipeline::post(const Frame& frame, std::uint64_t generation) {
    {
        const std::scoped_lock lock(mutex_);
        if (generation != generation_) return;
        meter_.frameIn(Clock::now(), waiting_.has_value());
        if (trace_) trace_->add("capture", "frame", frame.captured, Clock::now(), frame.number);
        waiting_ = frame;
    }
    wake_.notify_all();
}

void Pipeline::tell(std::uint64_t generation,
                    State state,
                    const std::string& problem,
                    const SourceInfo& source,
                    ErrorCategory category) {
    {
        const std::scoped_lock lock(mutex_);
        if (generation != generation_ || status_.state == State::stopped) return;
        if (state == State::ended && video_) video_->end();
        status_.state = state;
        status_.sourceProblem = problem;
        status_.sourceCategory = category;
        if (problem.empty()) status_.source = source;
    }
    onNews_();
}

/// Also of a source that was stopped, or replaced, until it is closed.
void Pipeline::tellCapturing(bool on) {
    {
        const std::scoped_lock lock(mutex_);
        status_.capturing = on;
    }
    onNews_();
}

// --- The worker ---

void Pipeline::work(const std::stop_token& quit) {
    bool goesOn = true;
    const auto doNext = [&] {
        auto order = nextOrder(quit);
        goesOn = order.has_value();
        if (order) carryOut(*order);
    };
    while (goesOn)
        guarded(doNext, [this](const char* sentence, ErrorCategory category) { engineFailed(sentence, category); });
    queue_.reset();  // on the thread that it was made on
}

/// Waits while there is nothing to do; null when the program ends.
std::optional<Pipeline::Order> Pipeline::nextOrder(const std::stop_token& quit) {
    const bool idle = !queue_ || queue_->isEmpty(), full = queue_ && queue_->isFull();
    std::unique_lock lock(mutex_);
    const auto measures = [&] { return queue_ && ratesWanted_ && !rates_; };
    // What is under way would be measured with the device.
    const auto slotFree = [&] { return measures() ? idle : !full; };
    const auto somethingToDo = [&] {
        return (engineWanted_ && makeAnew_) || (engineTried_ && supply_.isDue()) || (slotFree() && waiting_) ||
               onceMore() || measures();
    };
    Order order;
    if (idle && !somethingToDo()) {
        order.waitBegan = Clock::now();
        wake_.wait(lock, quit, somethingToDo);
        order.waitEnded = Clock::now();
        waited_ += order.waitEnded - order.waitBegan;
    }
    if (quit.stop_requested()) return std::nullopt;
    order.generation = generation_;
    order.params = params_;
    playBehind(order);
    order.timeLayers = timeLayers_;
    order.trace = trace_;
    order.makeEngine = engineWanted_ && std::exchange(makeAnew_, false);
    order.changeEngine = engineTried_ && supply_.isDue();
    order.measureRates = measures() && idle;
    if (slotFree() && waiting_) {
        order.frame = std::exchange(waiting_, std::nullopt);
        const std::chrono::duration<float, std::milli> waited = std::exchange(waited_, {});
        // Before a source's first frame the wait was for its start.
        if (last_ && generation_ == workingOn_) order.waitMs = waited.count();
    } else if (onceMore()) {
        order.frame = last_;
        order.repeated = true;
    }
    if (!order.frame) return order;
    order.alone = std::exchange(cutoutWanted_, false);
    if (order.alone) {
        order.params.background.kind = Background::Kind::transparent;
    } else {
        paramsChanged_ = false;
    }
    return order;
}

/// Starts, keeps or ends the background video and takes its newest frame. Before the first one the parameters' own
/// picture or colour is used. Requires the lock.
void Pipeline::playBehind(Order& order) {
    const Background& background = order.params.background;
    const bool on = status_.state != State::stopped && status_.state != State::ended;
    const bool wanted = queue_ && on && moves(background);
    if (video_ && (!wanted || video_->hasEnded() || video_->path() != background.imagePath)) {
        order.ended = std::exchange(video_, nullptr);
    }
    if (wanted && !video_) video_ = std::make_shared<LoopingVideo>(background.imagePath, frameMemory_);
    status_.backgroundProblem = video_ ? video_->problem() : std::string();
    if (auto picture = video_ ? video_->newest() : nullptr) order.params.background.image = std::move(picture);
}

/// The last frame: the parameters changed, or its cut-out is wanted, and no newer one came. Never of a source that was
/// stopped. With the lock held.
bool Pipeline::onceMore() const {
    if (status_.state == State::stopped) return false;
    return (paramsChanged_ || cutoutWanted_) && last_ && (!queue_ || queue_->isEmpty()) && generation_ == workingOn_;
}

void Pipeline::carryOut(Order& order) {
    if (order.makeEngine) supply_.make(queue_);
    if (order.makeEngine || (order.changeEngine && supply_.proceed(queue_, last_, order.params))) enginesChanged();
    if (order.generation != workingOn_) {
        if (queue_) queue_->reset();
        last_.reset();
        layersFor_ = {};
        workingOn_ = order.generation;
    }
    if (!queue_) return;  // it could not be made: status says why, and the placeholder is shown
    if (order.timeLayers != timingLayers_) queue_->timeLayers(timingLayers_ = order.timeLayers);
    if (order.measureRates) measureRates();
    if (order.frame) {
        submit(order);
    } else if (!queue_->isEmpty()) {
        deliver(order);
    }
}

/// Tells what is to be known of other engines.
void Pipeline::enginesChanged() {
    timingLayers_ = false;
    changesTold_ = queue_->changes();
    const PixelMemory memory = queue_->frameMemory();
    EngineInfo info = queue_->info();
    {
        const std::scoped_lock lock(mutex_);
        engineMissing_ = false;
        engineTried_ = true;
        frameMemory_ = memory;
        status_.engineProblem.clear();
        tellEngine(std::move(info), true);
    }
    announce();
}

void Pipeline::submit(const Order& order) {
    last_ = order.frame;
    if (order.trace && order.waitMs && order.waitBegan < order.waitEnded) {
        order.trace->add("worker", "capture wait", order.waitBegan, order.waitEnded, order.frame->number);
    }
    const Trace::Span span(order.trace.get(), "worker", "submit", order.frame->number);
    queue_->submit(*order.frame, order.params, {Clock::now(), order.waitMs, order.repeated, order.alone});
}

void Pipeline::deliver(const Order& order) {
    auto [output, entry] = [&] {
        const Trace::Span span(order.trace.get(), "worker", "take", queue_->front().frame.number);
        return queue_->take();
    }();
    const UnderWay& due = entry.tag;
    const auto now = Clock::now();
    if (order.trace) order.trace->addStages(output, now);
    const std::chrono::duration<float, std::milli> took = now - due.submitted;
    if (output.frame != entry.frame.number) {
        const std::scoped_lock lock(mutex_);
        if (order.generation == generation_) meter_.stale();
        return;
    }
    // The engine is asked without the lock, for which newest() may be waiting.
    const bool another = std::exchange(fineDetail_, entry.params.fineDetail) != entry.params.fineDetail;
    std::optional<std::vector<LayerInfo>> layers;
    if (another || !(layersFor_ == output.picture->size())) layers = queue_->layers();
    std::optional<EngineInfo> info;  // at once of another engine, else now and then: it copies text
    if (std::exchange(changesTold_, queue_->changes()) != queue_->changes() || now - engineTold_ > kEngineNews)
        info = queue_->info();
    {
        const std::scoped_lock lock(mutex_);
        if (order.generation != generation_) return;
        if (another) meter_.anotherEngine();  // times as with another engine
        if (layers) meter_.setLayers(std::move(*layers));
        layersFor_ = output.picture->size();
        if (due.waitMs) meter_.captureWait(*due.waitMs);
        meter_.frameOut(now, output, took.count());
        if (info) tellEngine(std::move(*info));
        status_.engineProblem.clear();
        status_.matteProblem = meter_.matteProblem(now);
        // The next start creates the engine again, whose self-test then detects a damaged model.
        engineMissing_ = engineMissing_ || output.matteFault == MatteFault::everything;
        if (output.matteUsable()) {  // otherwise the last good composite stays, or the placeholder
            (due.alone ? cutout_ : shown_) = std::make_shared<LivePicture>(
                LivePicture{std::move(output.picture), output.frame, output.captured, false, due.repeated});
        }
    }
    onNews_();
}

/// Runs one step; the others follow after later frames. After a failure the rates count as unknown: the next frame
/// reports the problem.
void Pipeline::measureRates() {
    std::optional<MachineRates> rates;
    try {
        rates = queue_->measureRates();
    } catch (const std::exception&) {
        rates.emplace();
    }
    const std::scoped_lock lock(mutex_);
    rates_ = std::move(rates);
}

/// With the lock held.
void Pipeline::tellEngine(EngineInfo info, bool isAnother) {
    if (isAnother || info.name != status_.engine.name) {  // another engine took over: its layers are others
        if (!status_.engine.name.empty()) meter_.anotherEngine();
        layersFor_ = {};
        rates_.reset();
    }
    if (info.warnings != status_.engine.warnings) layersFor_ = {};  // the network's input size may have changed
    status_.engine = std::move(info);
    engineTold_ = Clock::now();
}

/// The last good composite stays; what was under way is lost.
void Pipeline::engineFailed(const std::string& sentence, ErrorCategory category) {
    try {
        if (queue_) queue_->drop();
    } catch (const std::exception&) {
        queue_.reset();  // the next source creates another one
    }
    last_.reset();
    {
        const std::scoped_lock lock(mutex_);
        meter_.engineFailed();
        engineMissing_ = engineMissing_ || !queue_;
        engineTried_ = true;
        status_.engineProblem = sentence;
        status_.engineCategory = category;
    }
    announce();  // the source may open: what it gives is not shown, the placeholder is
}

}  // namespace matte
