// SPDX-License-Identifier: Apache-2.0
// FailoverPhotoEngine: continues on a second engine when the first one's device fails. Cut-outs on the lost device are
// computed again from their sources, and so are finished pictures that are fetched only later. See engine.h for the
// rules.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "inference/engine/engine.h"

namespace matte {

class StandbyEngine;

class FailoverPhotoEngine final : public PhotoEngine {
public:
    /// `reason`: why the engine is needed.
    using MakeEngine = std::function<std::unique_ptr<PhotoEngine>(const std::string& reason)>;
    /// `second` is called when the second engine is first needed.
    FailoverPhotoEngine(std::unique_ptr<PhotoEngine> first, MakeEngine second);

    /// If creating the first engine throws DeviceFailure, returns the second one.
    static std::unique_ptr<PhotoEngine> create(const std::function<std::unique_ptr<PhotoEngine>()>& first,
                                               MakeEngine second);

    /// About the engine for the next picture.
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
    std::string warning_;  ///< the first engine's last device failure
};

}  // namespace matte
