// SPDX-License-Identifier: Apache-2.0
// Engine on the CPU: oneDNN for the network, our own loops for the picture. See engine.h for the rules.
#pragma once

#include "inference/cpu/cpu_network.h"
#include "inference/engine.h"

namespace matte {

class CpuEngine final : public Engine {
public:
    /// `reason` is why no better engine was taken, for info().
    CpuEngine(UNet network, const EngineOptions& options, std::string reason);

    [[nodiscard]] EngineInfo info() const override;
    std::shared_ptr<Cutout> cutOut(std::shared_ptr<const Image> source, std::stop_token stop) override;
    Output composite(Cutout& cutout, const Look& look, Size size, std::stop_token stop) override;
    Image matte(Cutout& cutout, const Look& look, Size size, std::stop_token stop) override;

private:
    Planes networkMatte(const Image& source, StageTimes& times, std::stop_token stop);

    CpuNetwork network_;
    EngineOptions options_;
    std::string reason_;
};

}  // namespace matte
