// SPDX-License-Identifier: Apache-2.0
// SwitchingEngine: the product's engine, whose live network can be replaced by a baseline while frames run.
// An implementation is built on a thread of its own when it is chosen, and the frames go on as before until it is
// ready; when it fails, the frame at hand and all others go on by the product's engine, so that nothing is shown that
// has no matte. An implementation of the CPU that is too slow for the network's own input runs at a smaller one
// (input_choice.h). While none is chosen every call goes straight to the product's engine, and nothing of the baselines
// is in memory. See engine.h for the rules.
#pragma once

#include <chrono>
#include <functional>
#include <future>

#include "inference/baselines/live/baseline_network.h"
#include "inference/baselines/live/implementation_switch.h"
#include "inference/cpu/cpu_engine.h"
#include "inference/engine/engine.h"

namespace matte::baselines {

class SwitchingEngine final : public LiveEngine {
public:
    struct Setup {
        std::function<ModelPointer()> loadModel;  ///< the product's; called on another thread
        EngineOptions options;                    ///< the product's
    };
    /// What is chosen already is built here.
    SwitchingEngine(std::unique_ptr<LiveEngine> product,
                    Setup setup,
                    std::shared_ptr<ImplementationSwitch> implementations);
    /// An implementation that is being built is given up, and waited for that long.
    ~SwitchingEngine() override;

    /// Names the implementation, and says in a warning why one that was chosen does not run.
    [[nodiscard]] EngineInfo info() const override;
    [[nodiscard]] PixelMemory frameMemory() const override { return product_->frameMemory(); }
    /// Fewer while another engine is ready to take over: first it finishes what is under way.
    [[nodiscard]] int slots() const override;
    bool submit(const Frame& frame, const CompositeParams& params) override;
    Output take() override;
    void drop() override;
    void reset() override;
    [[nodiscard]] std::vector<LayerInfo> layers() const override { return live().layers(); }
    void timeLayers(bool on) override;
    std::optional<MachineRates> measureRates() override;

private:
    /// An implementation, ready to run; or why it isn't.
    struct Built {
        const Implementation* implementation = nullptr;
        std::unique_ptr<CpuEngine> engine;
        BaselineNetwork* network = nullptr;      ///< the engine's
        bool first = true;                       ///< no frame has come of it yet
        bool inputSettled = false;               ///< at which it runs; a GPU's always have the network's own
        std::unique_ptr<HostNetwork> reference;  ///< the product's network, once it is prepared
        std::string problem;
        bool stopped = false;  ///< before it was ready: all but the implementation is empty
        std::future<std::unique_ptr<HostNetwork>>
            preparing;  ///< of the reference, beside the implementation's first frames
    };
    struct Submitted {
        Frame frame;
        CompositeParams params;
    };
    static Built build(const Implementation& implementation,
                       const Setup& setup,
                       EngineKind product,
                       Size picture,
                       std::stop_token stop);
    void startBuilding(const Implementation& implementation, Size picture);
    void follow(Size picture);
    void run(Built built);
    void useProduct();
    void measure(Size picture, Output& output);
    void settleInput(const TimedRun& run, const InputChoice& choice);
    void compare(Output& output);
    [[nodiscard]] bool hasReference();
    void runReference();
    [[nodiscard]] bool ready() const;
    [[nodiscard]] LiveEngine& live() const {
        if (now_.engine) return *now_.engine;
        return *product_;
    }

    std::unique_ptr<LiveEngine> product_;
    Setup setup_;
    std::shared_ptr<ImplementationSwitch> implementations_;
    Built now_;                       ///< what runs; empty for the product's
    std::optional<Submitted> frame_;  ///< under way in now_
    int underWay_ = 0;
    bool timeLayers_ = false;
    std::chrono::steady_clock::time_point compared_;
    const Implementation* inBuilding_ = nullptr;  ///< while building_ is valid
    std::stop_source stopBuilding_;
    std::future<Built> building_;  ///< last: it is waited for before what it uses goes
};

}  // namespace matte::baselines
