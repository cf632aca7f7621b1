// SPDX-License-Identifier: Apache-2.0
// BaselineNetwork: a baseline in the place of the CPU engine's network. Preprocessing, refinement and
// composite are the CPU engine's, whatever device the implementation runs on: an implementation of the GPU gets its
// input from the host and brings alpha back. One thread at a time.
//
//     auto engine = makeBaselineEngine(networkImplementationNamed("cpu-im2col"), model, {});  // photos and live frames
#pragma once

#include "inference/baselines/implementation.h"
#include "inference/cpu/host_network.h"
#include "inference/engine/engine.h"

namespace matte::baselines {

class BaselineNetwork final : public HostNetwork {
public:
    /// `implementation` lives as long as this. Throws Error(engine) when it can't run here.
    BaselineNetwork(const Implementation& implementation, ModelPointer model);
    /// The token of runs that are given none.
    void stopBy(std::stop_token stop) { stop_ = std::move(stop); }
    /// NetworkImplementation::begun() of the current run. Any thread.
    [[nodiscard]] double begun() const { return network_->begun(); }
    /// Of the last run().
    [[nodiscard]] const RunReport& report() const { return report_; }

    [[nodiscard]] const UNet& unet() const override { return model_->unet; }
    void configure(Size size) override;
    [[nodiscard]] Size size() const override { return size_; }
    [[nodiscard]] float* input() override { return input_.data(); }
    [[nodiscard]] const float* alpha() const override { return alpha_.data(); }
    /// Throws Error(engine) for values that are not finite, too.
    void run(std::stop_token stop, std::vector<float>* layerMs) override;
    [[nodiscard]] std::string name() const override;
    [[nodiscard]] std::string implementation(int layer) const override;
    [[nodiscard]] int valueBytes() const override { return implementation_.tensorCores ? 2 : 4; }
    [[nodiscard]] bool onGpu() const override { return implementation_.where == Where::gpu; }
    [[nodiscard]] std::size_t bytesUp() const override { return report_.bytesUp; }
    [[nodiscard]] std::size_t bytesDown() const override { return report_.bytesDown; }

private:
    const Implementation& implementation_;
    ModelPointer model_;
    std::unique_ptr<NetworkImplementation> network_;
    std::stop_token stop_;
    Size size_{};
    std::vector<float> input_, alpha_;
    RunReport report_;
};

/// The product's network as `kind` and `precision` choose it, to compare an implementation's alpha with.
std::unique_ptr<HostNetwork> makeProductNetwork(EngineKind kind, Precision precision, const ModelPointer& model);

/// An engine whose network runs by `implementation`, and nothing takes over when it fails. Throws Error(engine).
std::unique_ptr<Engine> makeBaselineEngine(const Implementation& implementation,
                                           const ModelPointer& model,
                                           const EngineOptions& options);

}  // namespace matte::baselines
