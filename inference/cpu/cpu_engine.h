// SPDX-License-Identifier: Apache-2.0
// Engine on the CPU: oneDNN for the network, or another in its place, our own loops for the picture. See engine.h for
// the rules.
#pragma once

#include <optional>

#include "inference/cpu/cpu_network.h"
#include "inference/cpu/cpu_pass.h"
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
    /// A picture and its pixels, used again once nobody else holds either.
    struct Shown {
        std::shared_ptr<Image> image;
        std::shared_ptr<HostPicture> picture;
    };
    const Shown& unused(Size size);
    [[nodiscard]] bool hasFineDetail() const;
    /// `detail`: as photos have it.
    [[nodiscard]] Size inputFor(Size picture, bool detail) const;

    std::unique_ptr<HostNetwork> network_;
    EngineOptions options_;
    std::string reason_;
    CpuPass photoPass_, livePass_;  ///< of composites, and of live frames
    CpuLiveMemory live_;
    CpuFrame liveFrame_;
    RgbaFrame rgba_;
    std::vector<Shown> shown_;
    bool timeLayers_ = false;
    bool started_ = false;                   ///< the network has seen more than the test picture
    std::unique_ptr<ProcessorRates> rates_;  ///< while they are measured
    std::optional<Waiting> waiting_;         ///< the frame under way: its work is done by take()
};

}  // namespace matte
