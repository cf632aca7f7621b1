// SPDX-License-Identifier: Apache-2.0
// What CudaEngine is held against: the CPU's loops around the GPU's network, and an engine that needs no device at all.
// One thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "inference/cuda/cuda_network.h"
#include "inference/engine/engine.h"

namespace matte::test {

/// The CPU's refinement and composite of a matte that was found somewhere else.
class HostSteps {
public:
    HostSteps(std::shared_ptr<const Image> source, const Planes& coarse);
    [[nodiscard]] Image composite(const CompositeParams& params, Size size);
    [[nodiscard]] Image matte(const CompositeParams& params, Size size);

private:
    [[nodiscard]] Image at(Size size) const;
    std::shared_ptr<const Image> source_;
    Planes guided_, alpha_, linear_;
};

/// The network's matte of a picture, run on the GPU one kernel after the other; joined with that of a second pass, if
/// the picture deserves one.
class NetworkMatte {
public:
    NetworkMatte(std::shared_ptr<const UNet> unet, int longestSide);
    Planes operator()(const Image& source);

private:
    Planes onePass(const Image& source);
    std::shared_ptr<const UNet> unet_;
    int longestSide_;
    CudaNetwork network_;
};

/// Takes a round matte for every picture: stands in for the engine that takes over from a lost device.
class RoundEngine final : public Engine {
public:
    explicit RoundEngine(std::string reason) : reason_(std::move(reason)) {}
    [[nodiscard]] EngineInfo info() const override { return {EngineKind::cpu, "round", reason_, {}}; }
    std::shared_ptr<Cutout> cutOut(std::shared_ptr<const Image> source, std::stop_token stop) override;
    Output composite(Cutout& cutout, const CompositeParams& params, Size size, std::stop_token stop) override;
    Image matte(Cutout& cutout, const CompositeParams& params, Size size, std::stop_token stop) override;

    [[nodiscard]] int slots() const override { return 1; }
    bool submit(const Frame& frame, const CompositeParams& params) override;
    Output take() override;
    void drop() override { underWay_.reset(); }
    void reset() override { underWay_.reset(); }
    [[nodiscard]] std::vector<LayerInfo> layers() const override { return {}; }
    void timeLayers(bool) override {}

private:
    std::string reason_;
    std::optional<std::pair<Frame, CompositeParams>> underWay_;
};

/// Channels multiplied by alpha, 0 to 255: what is transparent has no colour to compare.
std::vector<float> premultiplied(const Image& rgba);

}  // namespace matte::test
