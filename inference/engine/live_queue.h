// SPDX-License-Identifier: Apache-2.0
// LiveQueue: the frames under way in a live engine, and the only place that keeps them. When the engine's device fails,
// the standby engine is made and they are begun again there, so that no frame is lost. One thread at a time.
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

/// What live frames run on.
struct LiveEngines {
    using Make = std::function<std::unique_ptr<LiveEngine>(const std::string& reason)>;
    LiveEngines() = default;
    template <typename Made>
    LiveEngines(std::unique_ptr<Made> engine, Make standby = {})  // NOLINT(google-explicit-constructor)
        : first(std::move(engine)), makeStandby(std::move(standby)) {}

    /// The first engine with the second for standby, or, where making it throws DeviceFailure, the second alone.
    static LiveEngines create(const std::function<std::unique_ptr<LiveEngine>()>& first, Make second) {
        try {
            return {first(), second};
        } catch (const DeviceFailure& failure) {
            return second(failure.what());
        }
    }

    std::unique_ptr<LiveEngine> first;
    /// Makes the one that goes on when the device of the first fails, for `reason`; empty: none does.
    Make makeStandby;
};
using MakeLiveEngines = std::function<LiveEngines()>;

/// Failover between two live engines: which one the next frame goes to.
class LiveFailover {
public:
    explicit LiveFailover(LiveEngines engines) : engines_(std::move(engines)) {}

    /// Of the engine that the next frame goes to.
    [[nodiscard]] EngineInfo info() const {
        EngineInfo info = current().info();
        if (onStandby()) {
            info.reason = problem_;
        } else if (!problem_.empty()) {
            info.warnings.push_back(problem_);
        }
        return info;
    }
    [[nodiscard]] PixelMemory frameMemory() const { return current().frameMemory(); }
    [[nodiscard]] int slots() const { return current().slots(); }
    [[nodiscard]] std::vector<LayerInfo> layers() const { return current().layers(); }
    void timeLayers(bool on) { current().timeLayers(timeLayers_ = on); }
    /// As LiveEngine::measureRates().
    std::optional<MachineRates> measureRates() {
        return run([](LiveEngine& engine) { return engine.measureRates(); });
    }

protected:
    ~LiveFailover() = default;

    [[nodiscard]] LiveEngine& current() const { return onStandby() ? *standby_ : *engines_.first; }

    /// What `work` does with the engine; with the standby when the device of the first fails at it, after `begin` was
    /// called. Throws DeviceFailure where there is no standby, and what making it throws.
    template <typename Work>
    std::invoke_result_t<const Work&, LiveEngine&> run(const Work& work) {
        if (!onStandby()) {
            try {
                return work(*engines_.first);
            } catch (const DeviceFailure& failure) {
                failOver(failure);
            }
        }
        return work(*standby_);
    }

    /// To the standby: for good when the device is lost, until another source begins when it was full for a frame.
    void failOver(const DeviceFailure& failure) {
        if (onStandby() || !engines_.makeStandby) throw DeviceFailure(failure);
        if (!standby_) standby_ = engines_.makeStandby(failure.what());  // should that fail too, all stays as it is
        if (failure.lasting) {
            engines_.first.reset();
        } else {
            engines_.first->drop();
        }
        skipsFirst_ = true;
        problem_ = failure.what();
        standby_->timeLayers(timeLayers_);
        failedOver();
    }

    void resetEngines() {
        if (standby_) standby_->reset();
        if (!engines_.first) return;
        skipsFirst_ = false;
        engines_.first->reset();
        engines_.first->timeLayers(timeLayers_);
    }

private:
    /// Nothing is under way in the engine that frames go to now.
    virtual void failedOver() = 0;
    [[nodiscard]] bool onStandby() const { return skipsFirst_; }

    LiveEngines engines_;
    std::unique_ptr<LiveEngine> standby_;
    bool skipsFirst_ = false;
    std::string problem_;  ///< the last failure of the first engine's device
    bool timeLayers_ = false;
};

/// `Tag` is what goes with each frame.
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

    using LiveFailover::LiveFailover;

    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    [[nodiscard]] bool isEmpty() const { return entries_.empty(); }
    /// As many frames as there are slots are under way, or more: the standby may have fewer.
    [[nodiscard]] bool isFull() const { return size() >= std::size_t(slots()); }
    /// The oldest. Not when it is empty.
    [[nodiscard]] const Entry& front() const { return entries_.front(); }

    void submit(Frame frame, CompositeParams params, Tag tag) {
        entries_.push_back({std::move(frame), std::move(params), std::move(tag)});
        start();
    }
    /// The oldest frame's output; waits for it. Not when it is empty. The frame stays under way when this throws.
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
    /// `taken` again: its picture can't be fetched, because of `failure`.
    Taken takeAgain(Taken taken, const DeviceFailure& failure) {
        failOver(failure);
        entries_.push_front(std::move(taken.entry));
        return take();
    }
    /// As the engine's.
    void drop() {
        clear();
        current().drop();
    }
    void reset() {
        clear();
        resetEngines();
    }

private:
    void start() {
        run([this](LiveEngine& engine) { startIn(engine); });
    }
    /// As many as the engine takes, in order.
    void startIn(LiveEngine& engine) {
        while (started_ < entries_.size() && engine.submit(entries_[started_].frame, entries_[started_].params))
            ++started_;
    }
    void failedOver() override { started_ = 0; }
    void clear() {
        entries_.clear();
        started_ = 0;
    }

    std::deque<Entry> entries_;
    std::size_t started_ = 0;  ///< of these, how many the engine has
};

}  // namespace matte
