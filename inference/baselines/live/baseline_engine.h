// SPDX-License-Identifier: Apache-2.0
// BaselineEngine: live frames whose network is computed by another implementation than the product's. Everything but
// the network is the CPU engine's. An implementation of the CPU that is too slow for the network's own input runs at a
// smaller one (InputChoice). Now and then its alpha is compared with that of the product's network.
#pragma once

#include <chrono>
#include <functional>
#include <future>

#include "inference/baselines/live/baseline_network.h"
#include "inference/baselines/live/implementation_switch.h"
#include "inference/cpu/cpu_engine.h"

namespace matte::baselines {

/// The product, which the implementations are compared with.
struct Product {
    std::function<ModelPointer()> loadModel;  ///< called on another thread
    EngineOptions options;
};

class BaselineEngine final : public LiveEngine {
public:
    /// Measures `implementation`, which lives as long as this, for pictures of `picture` pixels; 0x0: not known. `kind`
    /// is the product's engine's. Takes up to a second. Throws Error where it can't be used, and Cancelled.
    BaselineEngine(const Implementation& implementation,
                   const Product& product,
                   EngineKind kind,
                   std::shared_ptr<ImplementationSwitch> implementations,
                   Size picture,
                   const std::stop_token& stop);
    ~BaselineEngine() override;

    /// Later runs end when `stop` is triggered; take() then throws Cancelled.
    void stopBy(std::stop_token stop) { network_->stopBy(std::move(stop)); }

    [[nodiscard]] EngineInfo info() const override;
    [[nodiscard]] int slots() const override { return engine_->slots(); }
    bool submit(const Frame& frame, const CompositeParams& params) override;
    Output take() override;
    void drop() override { engine_->drop(); }
    void reset() override;
    [[nodiscard]] std::vector<LayerInfo> layers() const override { return engine_->layers(); }
    void timeLayers(bool on) override { engine_->timeLayers(on); }
    std::optional<MachineRates> measureRates() override;

private:
    void measure(Output& output);
    void settleInput(const TimedRun& run, const InputChoice& choice);
    void compare(Output& output);
    [[nodiscard]] bool hasReference();
    void runReference();

    std::shared_ptr<ImplementationSwitch> implementations_;
    int networkLongestSide_;              ///< EngineOptions's
    BaselineNetwork* network_ = nullptr;  ///< the engine's
    std::unique_ptr<CpuEngine> engine_;
    Size picture_;               ///< of the current frame
    bool first_ = true;          ///< no frame has come yet
    bool inputSettled_ = false;  ///< the input's size stays; a GPU's is the network's own from the beginning
    std::chrono::steady_clock::time_point compared_;
    std::unique_ptr<HostNetwork> reference_;               ///< the product's network, once it is prepared
    std::future<std::unique_ptr<HostNetwork>> preparing_;  ///< of the reference, beside the first frames
};

}  // namespace matte::baselines
