// SPDX-License-Identifier: Apache-2.0
// LiveQueue: the queue of frames under way in a live engine. When the engine's device fails, it creates the standby
// engine and submits them again there, so that no frame is lost. One thread at a time.
//
//     LiveQueue<Clock::time_point> queue(createLiveEngines(network, options));
//     if (!queue.isFull()) queue.submit(frame, params, Clock::now());
//     auto [output, entry] = queue.take();
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "inference/engine/engine.h"

namespace matte {

/// Substitutes other engines for the usual ones, as long as they work. Called between two frames.
class EngineSelector {
public:
    virtual ~EngineSelector() = default;
    EngineSelector(const EngineSelector&) = delete;
    EngineSelector& operator=(const EngineSelector&) = delete;

    /// Called before each frame, of `picture` pixels, and once with 0x0 before the first. Returns the engine for the
    /// following frames, null for the usual one, `usual`, or nothing for no change.
    virtual std::optional<std::unique_ptr<LiveEngine>> next(Size picture, const LiveEngine& usual) = 0;
    /// The selected engine failed with `sentence`, or cancelled a frame (empty); the usual engines continue.
    virtual void failed(const std::string& sentence) = 0;
    /// A warning for EngineInfo::warnings, or empty.
    [[nodiscard]] virtual std::string problem() const = 0;

protected:
    EngineSelector() = default;
};

/// The engines for live frames.
struct LiveEngines {
    using Make = std::function<std::unique_ptr<LiveEngine>(const std::string& reason)>;
    LiveEngines() = default;
    template <typename Made>
    LiveEngines(std::unique_ptr<Made> engine, Make standby = {})  // NOLINT(google-explicit-constructor)
        : first(std::move(engine)), makeStandby(std::move(standby)) {}

    /// The first engine with the second as standby; only the second if creating the first throws DeviceFailure.
    static LiveEngines create(const std::function<std::unique_ptr<LiveEngine>()>& first, Make second) {
        try {
            return {first(), second};
        } catch (const DeviceFailure& failure) {
            return second(failure.what());
        }
    }

    std::unique_ptr<LiveEngine> first;
    /// Creates the standby engine when the first one's device fails; `reason` says why. Empty: no standby.
    Make makeStandby;
    std::unique_ptr<EngineSelector> selector;  ///< null: no substitutes
};
using MakeLiveEngines = std::function<LiveEngines()>;

/// Decides which engine gets the next frame: the selected one, the first, or the standby.
class LiveFailover {
public:
    explicit LiveFailover(LiveEngines engines) : engines_(std::move(engines)) {}

    /// Number of changes of engine so far.
    [[nodiscard]] int changes() const { return changes_; }
    /// About the engine for the next frame.
    [[nodiscard]] EngineInfo info() const {
        EngineInfo info = usual().info();
        if (onStandby()) {
            info.reason = problem_;
        } else if (!problem_.empty()) {
            info.warnings.push_back(problem_);
        }
        if (engines_.selector) {
            if (std::string problem = engines_.selector->problem(); !problem.empty())
                info.warnings.push_back(std::move(problem));
        }
        if (!selected_) return info;
        EngineInfo selected = selected_->info();
        selected.reason = std::move(info.reason);
        selected.warnings.insert(selected.warnings.end(), info.warnings.begin(), info.warnings.end());
        return selected;
    }
    [[nodiscard]] PixelMemory frameMemory() const { return usual().frameMemory(); }
    [[nodiscard]] int slots() const { return current().slots(); }
    [[nodiscard]] std::vector<LayerInfo> layers() const { return current().layers(); }
    void timeLayers(bool on) {
        timeLayers_ = on;
        usual().timeLayers(on);
        if (selected_) selected_->timeLayers(on);
    }
    /// As LiveEngine::measureRates().
    std::optional<MachineRates> measureRates() {
        return run([](LiveEngine& engine) { return engine.measureRates(); });
    }

protected:
    ~LiveFailover() = default;

    [[nodiscard]] LiveEngine& current() const { return selected_ ? *selected_ : usual(); }

    /// Asks the selector; on a change, frames under way start again on the new engine.
    void select(Size picture) {
        if (!engines_.selector) return;
        auto next = engines_.selector->next(picture, usual());
        if (!next) return;
        usual().drop();
        selected_ = std::move(*next);
        if (selected_) selected_->timeLayers(timeLayers_);
        change();
    }

    /// Returns `work(engine)`; if that fails, calls beginAgain() and repeats it with the next engine. Throws
    /// DeviceFailure when there is no standby, and whatever creating it throws.
    template <typename Work>
    std::invoke_result_t<const Work&, LiveEngine&> run(const Work& work) {
        if (selected_) {
            try {
                return work(*selected_);
            } catch (const Cancelled&) {
                leave("");
            } catch (const std::exception& error) {
                leave(error.what());
            }
        }
        if (!onStandby()) {
            try {
                return work(*engines_.first);
            } catch (const DeviceFailure& failure) {
                failOver(failure);
            }
        }
        return work(*standby_);
    }

    /// Changes to the standby: permanently when the device is lost, until the next source when it only lacked memory.
    void failOver(const DeviceFailure& failure) {
        if (onStandby() || !engines_.makeStandby) throw DeviceFailure(failure);
        if (!standby_) standby_ = engines_.makeStandby(failure.what());  // if this throws, nothing has changed yet
        if (failure.lasting) {
            engines_.first.reset();
        } else {
            engines_.first->drop();
        }
        skipsFirst_ = true;
        problem_ = failure.what();
        standby_->timeLayers(timeLayers_);
        if (selected_) selected_->drop();
        change();
    }

    void resetEngines() {
        if (selected_) selected_->reset();
        if (standby_) standby_->reset();
        if (!engines_.first) return;
        if (std::exchange(skipsFirst_, false)) ++changes_;
        engines_.first->reset();
        engines_.first->timeLayers(timeLayers_);
    }

private:
    /// Called when the engine has changed: no frame is under way in the new one.
    virtual void beginAgain() = 0;
    [[nodiscard]] LiveEngine& usual() const { return onStandby() ? *standby_ : *engines_.first; }
    void change() {
        ++changes_;
        beginAgain();
    }
    void leave(const std::string& sentence) {
        selected_.reset();
        change();
        engines_.selector->failed(sentence);
    }
    [[nodiscard]] bool onStandby() const { return skipsFirst_; }

    LiveEngines engines_;
    std::unique_ptr<LiveEngine> standby_, selected_;
    bool skipsFirst_ = false;
    std::string problem_;  ///< the first engine's last device failure
    bool timeLayers_ = false;
    int changes_ = 0;
};

/// `Tag` is the caller's data for each frame.
template <typename Tag>
class LiveQueue final : public LiveFailover {
public:
    struct Entry {
        Frame frame;
        CompositeParams params;
        Tag tag;
    };
    struct Taken {
        Output output;
        Entry entry;
    };

    explicit LiveQueue(LiveEngines engines) : LiveFailover(std::move(engines)) { select({}); }

    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    [[nodiscard]] bool isEmpty() const { return entries_.empty(); }
    /// Whether all slots are in use. There may be more frames than slots: the standby may have fewer.
    [[nodiscard]] bool isFull() const { return size() >= std::size_t(slots()); }
    /// The oldest frame. Requires a non-empty queue.
    [[nodiscard]] const Entry& front() const { return entries_.front(); }

    void submit(Frame frame, CompositeParams params, Tag tag) {
        select(frame.image->size());
        entries_.push_back({std::move(frame), std::move(params), std::move(tag)});
        start();
    }
    /// Waits for the oldest frame's output. Requires a non-empty queue. If it throws, the frame stays in the queue.
    Taken take() {
        Output output = run([this](LiveEngine& engine) {
            startIn(engine);
            return engine.take();
        });
        --started_;
        Taken taken{std::move(output), std::move(entries_.front())};
        entries_.pop_front();
        return taken;
    }
    /// Computes `taken` again on the standby, because `failure` prevents fetching its picture.
    Taken takeAgain(Taken taken, const DeviceFailure& failure) {
        failOver(failure);
        entries_.push_front(std::move(taken.entry));
        return take();
    }
    /// Takes the frames of `before`, in their order: they begin again in this queue's engine, and `before` is empty.
    void takeOver(LiveQueue& before) {
        entries_ = std::exchange(before.entries_, {});
        started_ = before.started_ = 0;
    }
    /// As the engine's.
    void drop() {
        current().drop();
        clear();
    }
    void reset() {
        resetEngines();
        clear();
    }

private:
    void start() {
        run([this](LiveEngine& engine) { startIn(engine); });
    }
    /// Submits frames in order until the engine is full.
    void startIn(LiveEngine& engine) {
        while (started_ < entries_.size() && engine.submit(entries_[started_].frame, entries_[started_].params))
            ++started_;
    }
    void beginAgain() override { started_ = 0; }
    void clear() {
        entries_.clear();
        started_ = 0;
    }

    std::deque<Entry> entries_;
    std::size_t started_ = 0;  ///< number of entries already submitted to the engine
};

}  // namespace matte
