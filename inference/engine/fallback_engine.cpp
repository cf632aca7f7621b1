// SPDX-License-Identifier: Apache-2.0
#include "inference/engine/fallback_engine.h"

namespace matte {
namespace {

/// Another engine's cut-out, which may be replaced by the second engine's of the same picture.
class FallbackCutout final : public Cutout {
public:
    FallbackCutout(std::shared_ptr<Cutout> made, bool byFirst)
        : inner(std::move(made)), ofFirst(byFirst), source_(inner->source()), times_(inner->times()) {}
    [[nodiscard]] std::shared_ptr<const Image> source() const override { return source_; }
    [[nodiscard]] const StageTimes& times() const override { return times_; }

    std::shared_ptr<Cutout> inner;
    bool ofFirst;

private:
    std::shared_ptr<const Image> source_;
    StageTimes times_;
};

/// A finished photo that is made again by the second engine when its device is lost before somebody asks for it.
class FallbackPicture final : public Picture {
public:
    FallbackPicture(std::shared_ptr<const Picture> made,
                    std::shared_ptr<const Image> source,
                    CompositeParams params,
                    std::shared_ptr<StandbyEngine> second)
        : made_(std::move(made)), source_(std::move(source)), params_(std::move(params)), second_(std::move(second)) {}
    [[nodiscard]] Size size() const override { return made_->size(); }
    [[nodiscard]] const DevicePicture* device() const override { return made_->device(); }
    [[nodiscard]] std::shared_ptr<const Image> image() const override {
        const std::scoped_lock lock(mutex_);
        if (again_) return again_;
        try {
            return made_->image();
        } catch (const DeviceFailure& failure) {
            if (failure.lasting) second_->takeOver(failure.what());
            again_ = second_->with(failure.what(), [&](Engine& engine) {
                const auto cutout = engine.cutOut(source_);
                return engine.composite(*cutout, params_, size()).picture->image();
            });
        }
        return again_;
    }

private:
    std::shared_ptr<const Picture> made_;
    std::shared_ptr<const Image> source_;
    CompositeParams params_;
    std::shared_ptr<StandbyEngine> second_;
    mutable std::mutex mutex_;
    mutable std::shared_ptr<const Image> again_;
};

FallbackCutout& mine(Cutout& cutout) {
    auto* own = dynamic_cast<FallbackCutout*>(&cutout);
    if (!own) throw Error(ErrorCategory::engine, "This cut-out was made by another engine: cut the picture out again.");
    return *own;
}

}  // namespace

FallbackEngine::FallbackEngine(std::unique_ptr<Engine> first, MakeEngine second)
    : first_(std::move(first)), second_(std::make_shared<StandbyEngine>(std::move(second))) {}

std::unique_ptr<Engine> FallbackEngine::create(const std::function<std::unique_ptr<Engine>()>& first,
                                               MakeEngine second) {
    try {
        return std::make_unique<FallbackEngine>(first(), second);
    } catch (const DeviceFailure& failure) {
        return second(failure.what());
    }
}

EngineInfo FallbackEngine::info() const {
    if (const auto lost = second_->takenOver()) {
        EngineInfo info = second_->with(*lost, [](Engine& engine) { return engine.info(); });
        info.reason = *lost;
        return info;
    }
    if (liveOnSecond_) {
        EngineInfo info = second_->with(warning_, [](Engine& engine) { return engine.info(); });
        info.reason = warning_;
        return info;
    }
    EngineInfo info = first_->info();
    if (!warning_.empty()) info.warnings.push_back(warning_);
    return info;
}

void FallbackEngine::failOver(const DeviceFailure& failure) {
    // Made before the first is let go: should that fail too, this engine stays as it is.
    if (failure.lasting) {
        second_->takeOver(failure.what());
        first_.reset();
        beginAgain();
    } else {
        second_->make(failure.what());
    }
    warning_ = failure.what();
}

/// What the first engine had under way is the second's now.
void FallbackEngine::beginAgain() {
    started_ = 0;
    second_->with("", [&](Engine& engine) { engine.timeLayers(timeLayers_); });
}

std::shared_ptr<Cutout> FallbackEngine::cutOut(std::shared_ptr<const Image> source, std::stop_token stop) {
    if (first_) {
        try {
            return std::make_shared<FallbackCutout>(first_->cutOut(source, stop), true);
        } catch (const DeviceFailure& failure) {
            failOver(failure);
        }
    }
    return second_->with(
        "", [&](Engine& engine) { return std::make_shared<FallbackCutout>(engine.cutOut(source, stop), false); });
}

template <typename Work>
auto FallbackEngine::onItsEngine(Cutout& cutout, const std::stop_token& stop, const Work& work) {
    FallbackCutout& own = mine(cutout);
    if (own.ofFirst && first_) {
        try {
            return work(*first_, *own.inner);
        } catch (const DeviceFailure& failure) {
            failOver(failure);
        }
    }
    return second_->with("This cut-out was made on the CPU.", [&](Engine& engine) {
        if (own.ofFirst) own.inner = engine.cutOut(own.source(), stop);
        own.ofFirst = false;
        return work(engine, *own.inner);
    });
}

Output FallbackEngine::composite(Cutout& cutout, const CompositeParams& params, Size size, std::stop_token stop) {
    Output output = onItsEngine(cutout, stop,
                                [&](Engine& engine, Cutout& its) { return engine.composite(its, params, size, stop); });
    if (output.picture->device()) {
        output.picture = std::make_shared<FallbackPicture>(output.picture, cutout.source(), params, second_);
    }
    return output;
}

Image FallbackEngine::matte(Cutout& cutout, const CompositeParams& params, Size size, std::stop_token stop) {
    return onItsEngine(cutout, stop,
                       [&](Engine& engine, Cutout& its) { return engine.matte(its, params, size, stop); });
}

/// What the first engine had under way when it failed is begun again on the second.
template <typename Work>
auto FallbackEngine::onLive(const Work& work) {
    if (first_ && !liveOnSecond_) {
        try {
            return work(*first_);
        } catch (const DeviceFailure& failure) {
            failOver(failure);
            liveOnSecond_ = true;
            if (first_) first_->reset();
            beginAgain();
        }
    }
    return second_->with("", work);
}

/// The engine that the next frame goes to, and no other should it fail.
template <typename Work>
auto FallbackEngine::withLive(const Work& work) const {
    if (first_ && !liveOnSecond_) return work(*first_);
    return second_->with("", work);
}

int FallbackEngine::slots() const {
    return withLive([](Engine& engine) { return engine.slots(); });
}

PixelMemory FallbackEngine::frameMemory() const {
    return withLive([](Engine& engine) { return engine.frameMemory(); });
}

std::vector<LayerInfo> FallbackEngine::layers() const {
    return withLive([](Engine& engine) { return engine.layers(); });
}

void FallbackEngine::startWaiting(Engine& engine) {
    for (; started_ < underWay_.size() && started_ < std::size_t(engine.slots()); ++started_) {
        engine.submit(underWay_[started_].frame, underWay_[started_].params);
    }
}

void FallbackEngine::submit(const Frame& frame, const CompositeParams& params) {
    underWay_.push_back({frame, params});
    onLive([&](Engine& engine) { startWaiting(engine); });
}

Output FallbackEngine::take() {
    Output output = onLive([&](Engine& engine) {
        startWaiting(engine);
        return engine.take();
    });
    underWay_.pop_front();
    --started_;
    return output;
}

void FallbackEngine::drop() {
    underWay_.clear();
    started_ = 0;
    withLive([](Engine& engine) { engine.drop(); });
}

void FallbackEngine::reset() {
    underWay_.clear();
    started_ = 0;
    liveOnSecond_ = false;
    if (first_) {
        first_->reset();
        first_->timeLayers(timeLayers_);
    }
    if (second_->made()) second_->with("", [](Engine& engine) { engine.reset(); });
}

void FallbackEngine::timeLayers(bool on) {
    timeLayers_ = on;
    withLive([on](Engine& engine) { engine.timeLayers(on); });
}

std::optional<MachineRates> FallbackEngine::measureRates() {
    return onLive([](Engine& engine) { return engine.measureRates(); });
}

}  // namespace matte
