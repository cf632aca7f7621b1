// SPDX-License-Identifier: Apache-2.0
// Engine on the CPU: oneDNN for the network, or another in its place, our own loops for the picture. See engine.h for
// the rules.
#pragma once

#include <optional>

#include "inference/cpu/cpu_live.h"
#include "inference/cpu/cpu_network.h"
#include "inference/cpu/processor_rates.h"
#include "inference/engine/engine.h"

namespace matte {

class CpuEngine final : public Engine {
public:
    /// `reason` is why no better engine was taken, for info(). Throws Error(model) when the network fails its
    /// self-test.
    CpuEngine(UNet network, const EngineOptions& options, std::string reason);
    /// With another network than oneDNN's.
    CpuEngine(std::unique_ptr<HostNetwork> network, const EngineOptions& options, std::string reason);

    [[nodiscard]] EngineInfo info() const override;
    std::shared_ptr<Cutout> cutOut(std::shared_ptr<const Image> source, std::stop_token stop) override;
    Output composite(Cutout& cutout, const CompositeParams& params, Size size, std::stop_token stop) override;
    Image matte(Cutout& cutout, const CompositeParams& params, Size size, std::stop_token stop) override;

    [[nodiscard]] int slots() const override { return 1; }
    bool submit(const Frame& frame, const CompositeParams& params) override;
    Output take() override;
    void drop() override;
    void reset() override;
    [[nodiscard]] std::vector<LayerInfo> layers() const override;
    void timeLayers(bool on) override;
    std::optional<MachineRates> measureRates() override;
    /// EngineOptions::networkLongestSide, from the next picture or frame on.
    void setNetworkLongestSide(int pixels) { options_.networkLongestSide = pixels; }

private:
    struct Waiting {
        Frame frame;
        CompositeParams params;
    };
    [[nodiscard]] bool hasFineDetail() const;
    /// `detail`: as photos have it.
    [[nodiscard]] Size inputFor(Size picture, bool detail) const;
    /// As the network gives it, at its size `input`.
    Planes networkMatte(const ImageView& source, Size input, StageTimes& times, const std::stop_token& stop);
    Planes photoMatte(const Image& photo, StageTimes& times, const std::stop_token& stop);

    std::unique_ptr<HostNetwork> network_;
    EngineOptions options_;
    std::string reason_;
    CpuLive live_;
    bool timeLayers_ = false;
    bool started_ = false;                   ///< the network has seen more than the test picture
    std::unique_ptr<ProcessorRates> rates_;  ///< while they are measured
    std::optional<Waiting> waiting_;         ///< the frame under way: its work is done by take()
};

}  // namespace matte
