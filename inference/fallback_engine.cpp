// SPDX-License-Identifier: Apache-2.0
#include "inference/fallback_engine.h"

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

FallbackCutout& mine(Cutout& cutout) {
    auto* own = dynamic_cast<FallbackCutout*>(&cutout);
    if (!own) throw Error(Area::engine, "This cut-out was made by another engine: cut the picture out again.");
    return *own;
}

}  // namespace

FallbackEngine::FallbackEngine(std::unique_ptr<Engine> first, MakeEngine second)
    : first_(std::move(first)), makeSecond_(std::move(second)) {}

EngineInfo FallbackEngine::info() const {
    EngineInfo info = first_ ? first_->info() : second_->info();
    if (first_ && !warning_.empty()) info.warnings.push_back(warning_);
    return info;
}

void FallbackEngine::turnToSecond(const DeviceFailure& failure) {
    // Made before the first is let go: should that fail too, this engine stays as it is.
    if (!second_ || failure.lasting) second_ = makeSecond_(failure.what());
    if (failure.lasting) first_.reset();
    warning_ = failure.what();
}

std::shared_ptr<Cutout> FallbackEngine::cutOut(std::shared_ptr<const Image> source, std::stop_token stop) {
    if (first_) {
        try {
            return std::make_shared<FallbackCutout>(first_->cutOut(source, stop), true);
        } catch (const DeviceFailure& failure) {
            turnToSecond(failure);
        }
    }
    return std::make_shared<FallbackCutout>(second_->cutOut(source, stop), false);
}

template <typename Work>
auto FallbackEngine::onItsEngine(Cutout& cutout, const std::stop_token& stop, const Work& work) {
    FallbackCutout& own = mine(cutout);
    if (own.ofFirst && first_) {
        try {
            return work(*first_, *own.inner);
        } catch (const DeviceFailure& failure) {
            turnToSecond(failure);
        }
    }
    if (!second_) second_ = makeSecond_("This cut-out was made on the CPU.");
    if (own.ofFirst) {
        own.inner = second_->cutOut(own.source(), stop);
        own.ofFirst = false;
    }
    return work(*second_, *own.inner);
}

Output FallbackEngine::composite(Cutout& cutout, const Look& look, Size size, std::stop_token stop) {
    return onItsEngine(cutout, stop,
                       [&](Engine& engine, Cutout& its) { return engine.composite(its, look, size, stop); });
}

Image FallbackEngine::matte(Cutout& cutout, const Look& look, Size size, std::stop_token stop) {
    return onItsEngine(cutout, stop, [&](Engine& engine, Cutout& its) { return engine.matte(its, look, size, stop); });
}

}  // namespace matte
