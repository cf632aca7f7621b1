// SPDX-License-Identifier: Apache-2.0
#include "inference/engine/failover_photo_engine.h"

#include <mutex>
#include <optional>
#include <utility>

namespace matte {

/// The second engine. It is created when it is first needed, and used under a lock: by the thread that runs the
/// engines, and by pictures of a lost device, which are computed again on the thread that fetches them.
class StandbyEngine {
public:
    explicit StandbyEngine(FailoverPhotoEngine::MakeEngine make) : make_(std::move(make)) {}

    /// Returns `work(engine)`; creates the engine first if there is none yet.
    template <typename Work>
    auto with(const std::string& reason, const Work& work) {
        const std::scoped_lock lock(mutex_);
        if (!engine_) engine_ = make_(reason);
        return work(*engine_);
    }
    /// Records that the first engine is lost permanently, because of `reason`.
    void takeOver(const std::string& reason) {
        with(reason, [&](PhotoEngine&) { takenOver_ = takenOver_.value_or(reason); });
    }
    /// The reason given to takeOver(); empty before.
    [[nodiscard]] std::optional<std::string> takenOver() const {
        const std::scoped_lock lock(mutex_);
        return takenOver_;
    }

private:
    FailoverPhotoEngine::MakeEngine make_;
    mutable std::mutex mutex_;
    std::unique_ptr<PhotoEngine> engine_;
    std::optional<std::string> takenOver_;
};

namespace {

/// Another engine's cut-out, which may be replaced by the second engine's of the same picture.
class FailoverCutout final : public Cutout {
public:
    FailoverCutout(std::shared_ptr<Cutout> made, bool byFirst)
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
class FailoverPicture final : public Picture {
public:
    FailoverPicture(std::shared_ptr<const Picture> made,
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
            again_ = second_->with(failure.what(), [&](PhotoEngine& engine) {
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

FailoverCutout& mine(Cutout& cutout) {
    auto* own = dynamic_cast<FailoverCutout*>(&cutout);
    if (!own) throw Error(ErrorCategory::engine, "This cut-out was made by another engine: cut the picture out again.");
    return *own;
}

}  // namespace

FailoverPhotoEngine::FailoverPhotoEngine(std::unique_ptr<PhotoEngine> first, MakeEngine second)
    : first_(std::move(first)), second_(std::make_shared<StandbyEngine>(std::move(second))) {}

std::unique_ptr<PhotoEngine> FailoverPhotoEngine::create(const std::function<std::unique_ptr<PhotoEngine>()>& first,
                                                         MakeEngine second) {
    try {
        return std::make_unique<FailoverPhotoEngine>(first(), second);
    } catch (const DeviceFailure& failure) {
        return second(failure.what());
    }
}

EngineInfo FailoverPhotoEngine::info() const {
    if (const auto lost = second_->takenOver()) {
        EngineInfo info = second_->with(*lost, [](PhotoEngine& engine) { return engine.info(); });
        info.reason = *lost;
        return info;
    }
    EngineInfo info = first_->info();
    if (!warning_.empty()) info.warnings.push_back(warning_);
    return info;
}

void FailoverPhotoEngine::failOver(const DeviceFailure& failure) {
    // Made before the first is let go: should that fail too, this engine stays as it is.
    if (failure.lasting) {
        second_->takeOver(failure.what());
        first_.reset();
    } else {
        second_->with(failure.what(), [](PhotoEngine&) {});
    }
    warning_ = failure.what();
}

std::shared_ptr<Cutout> FailoverPhotoEngine::cutOut(std::shared_ptr<const Image> source, std::stop_token stop) {
    if (first_) {
        try {
            return std::make_shared<FailoverCutout>(first_->cutOut(source, stop), true);
        } catch (const DeviceFailure& failure) {
            failOver(failure);
        }
    }
    return second_->with(
        "", [&](PhotoEngine& engine) { return std::make_shared<FailoverCutout>(engine.cutOut(source, stop), false); });
}

template <typename Work>
auto FailoverPhotoEngine::onItsEngine(Cutout& cutout, const std::stop_token& stop, const Work& work) {
    FailoverCutout& own = mine(cutout);
    if (own.ofFirst && first_) {
        try {
            return work(*first_, *own.inner);
        } catch (const DeviceFailure& failure) {
            failOver(failure);
        }
    }
    return second_->with("This cut-out was made on the CPU.", [&](PhotoEngine& engine) {
        if (own.ofFirst) own.inner = engine.cutOut(own.source(), stop);
        own.ofFirst = false;
        return work(engine, *own.inner);
    });
}

Output FailoverPhotoEngine::composite(Cutout& cutout, const CompositeParams& params, Size size, std::stop_token stop) {
    Output output = onItsEngine(
        cutout, stop, [&](PhotoEngine& engine, Cutout& its) { return engine.composite(its, params, size, stop); });
    if (output.picture->device()) {
        output.picture = std::make_shared<FailoverPicture>(output.picture, cutout.source(), params, second_);
    }
    return output;
}

Image FailoverPhotoEngine::matte(Cutout& cutout, const CompositeParams& params, Size size, std::stop_token stop) {
    return onItsEngine(cutout, stop,
                       [&](PhotoEngine& engine, Cutout& its) { return engine.matte(its, params, size, stop); });
}

}  // namespace matte
