// SPDX-License-Identifier: Apache-2.0
// FailoverPhotoEngine: goes on with a second engine when the device of the first fails, so that no photo is lost: what
// a lost device held is cut out again from its source, also when a finished photo is asked for only then. See engine.h
// for the rules.
#pragma once

#include "inference/engine/standby_engine.h"

namespace matte {

class FailoverPhotoEngine final : public PhotoEngine {
public:
    using MakeEngine = StandbyEngine::Make;
    /// `second` is made when it is first needed.
    FailoverPhotoEngine(std::unique_ptr<PhotoEngine> first, MakeEngine second);

    /// With the first engine, or, where making it throws DeviceFailure, the second alone.
    static std::unique_ptr<PhotoEngine> create(const std::function<std::unique_ptr<PhotoEngine>()>& first,
                                               MakeEngine second);

    /// Of the engine that the next picture goes to.
    [[nodiscard]] EngineInfo info() const override;
    std::shared_ptr<Cutout> cutOut(std::shared_ptr<const Image> source, std::stop_token stop) override;
    Output composite(Cutout& cutout, const CompositeParams& params, Size size, std::stop_token stop) override;
    Image matte(Cutout& cutout, const CompositeParams& params, Size size, std::stop_token stop) override;

private:
    template <typename Work>
    auto onItsEngine(Cutout& cutout, const std::stop_token& stop, const Work& work);
    void failOver(const DeviceFailure& failure);

    std::unique_ptr<PhotoEngine> first_;
    std::shared_ptr<StandbyEngine> second_;
    std::string warning_;  ///< the last failure of the first engine's device
};

}  // namespace matte
