// SPDX-License-Identifier: Apache-2.0
// Engine that goes on with a second engine when the device of the first fails, so that no picture is lost: what a lost
// device held is cut out again from its source. See engine.h for the rules.
#pragma once

#include <functional>

#include "inference/engine.h"

namespace matte {

class FallbackEngine final : public Engine {
public:
    /// `reason` is why the first engine is not used any more.
    using MakeEngine = std::function<std::unique_ptr<Engine>(const std::string& reason)>;
    /// `second` is made when it is first needed.
    FallbackEngine(std::unique_ptr<Engine> first, MakeEngine second);

    /// Of the engine that the next picture goes to.
    [[nodiscard]] EngineInfo info() const override;
    std::shared_ptr<Cutout> cutOut(std::shared_ptr<const Image> source, std::stop_token stop) override;
    Output composite(Cutout& cutout, const Look& look, Size size, std::stop_token stop) override;
    Image matte(Cutout& cutout, const Look& look, Size size, std::stop_token stop) override;

private:
    template <typename Work>
    auto onItsEngine(Cutout& cutout, const std::stop_token& stop, const Work& work);
    void turnToSecond(const DeviceFailure& failure);

    std::unique_ptr<Engine> first_, second_;
    MakeEngine makeSecond_;
    std::string warning_;  ///< the last picture that was too large for the first engine
};

}  // namespace matte
