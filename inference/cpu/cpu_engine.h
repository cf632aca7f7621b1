// SPDX-License-Identifier: Apache-2.0
// Engine on the CPU: the network runs on oneDNN or another HostNetwork, the pixel steps are our own loops. See engine.h
// for the rules.
#pragma once

#include <optional>

#include "inference/cpu/cpu_network.h"
#include "inference/cpu/cpu_pass.h"
#include "inference/cpu/processor_rates.h"
#include "inference/engine/engine.h"

namespace matte {

class CpuEngine final : public Engine {
public:
    /// `reason`: for info(), why no better engine is used. Throws Error(model) when the network fails its self-test.
    CpuEngine(UNet network, const EngineOptions& options, std::string reason);
    /// With any other network in place of oneDNN's.
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
    /// Changes EngineOptions::networkLongestSide from the next picture or frame on.
    void setNetworkLongestSide(int pixels) { options_.networkLongestSide = pixels; }

private:
    struct Waiting {
        Frame frame;
        CompositeParams params;
    };
    /// A picture and its pixels, recycled once no one else holds either.
    struct Shown {
        std::shared_ptr<Image> image;
        std::shared_ptr<HostPicture> picture;
    };
    const Shown& unused(Size size);
    [[nodiscard]] bool hasFineDetail() const;
    /// `detail`: the size for photos, else for live frames.
    [[nodiscard]] Size inputFor(Size picture, bool detail) const;

    std::unique_ptr<HostNetwork> network_;
    EngineOptions options_;
    std::string reason_;
    CpuPass photoPass_, livePass_;  ///< for composites of photos, and for live frames
    CpuLiveMemory live_;
    CpuFrame liveFrame_;
    RgbaFrame rgba_;
    std::vector<Shown> shown_;
    bool timeLayers_ = false;
    bool started_ = false;                   ///< the network has run on more than the self-test's picture
    std::unique_ptr<ProcessorRates> rates_;  ///< during the measurement
    std::optional<Waiting> waiting_;         ///< the frame under way; take() processes it
};

}  // namespace matte
