// SPDX-License-Identifier: Apache-2.0
// SwitchingEngine: the product's engine, whose live network can be replaced by a method of the ladder while frames run.
// A method is built on a thread of its own when it is chosen, and the frames go on as before until it is ready; when it
// fails, the frame at hand and all others go on by the product's engine, so that nothing is shown that has no matte.
// A method of the CPU that is too slow for the network's own input runs at a smaller one (input_choice.h).
// While none is chosen every call goes straight to the product's engine, and nothing of the ladder is in memory. See
// engine.h for the rules.
#pragma once

#include <chrono>
#include <functional>
#include <future>

#include "inference/baselines/live/method_network.h"
#include "inference/baselines/live/method_switch.h"
#include "inference/cpu/cpu_engine.h"
#include "inference/engine/engine.h"

namespace matte::ladder {

class SwitchingEngine final : public Engine {
public:
    struct Setup {
        std::function<ModelPointer()> loadModel;  ///< the product's; called on another thread
        EngineOptions options;                    ///< the product's
    };
    /// What is chosen already is built here.
    SwitchingEngine(std::unique_ptr<Engine> product, Setup setup, std::shared_ptr<MethodSwitch> methods);
    /// A method that is being built is given up, and waited for that long.
    ~SwitchingEngine() override;

    /// Names the method, and says in a warning why one that was chosen does not run.
    [[nodiscard]] EngineInfo info() const override;
    /// Photos are the product's.
    std::shared_ptr<Cutout> cutOut(std::shared_ptr<const Image> source, std::stop_token stop) override;
    Output composite(Cutout& cutout, const Look& look, Size size, std::stop_token stop) override;
    Image matte(Cutout& cutout, const Look& look, Size size, std::stop_token stop) override;

    [[nodiscard]] PixelMemory frameMemory() const override { return product_->frameMemory(); }
    /// Fewer while another engine is ready to take over: first it finishes what is under way.
    [[nodiscard]] int slots() const override;
    void submit(const Frame& frame, const Look& look) override;
    Output take() override;
    void drop() override;
    void forget() override;
    [[nodiscard]] std::vector<LayerInfo> layers() const override { return live().layers(); }
    void timeLayers(bool on) override;
    std::optional<MachineRates> measureRates() override;

private:
    /// A method, ready to run; or why it isn't.
    struct Built {
        const Method* method = nullptr;
        std::unique_ptr<CpuEngine> engine;
        MethodNetwork* network = nullptr;        ///< the engine's
        bool first = true;                       ///< no frame has come of it yet
        bool inputSettled = false;               ///< at which it runs; a GPU's always have the network's own
        std::unique_ptr<HostNetwork> reference;  ///< the product's network, once it is prepared
        std::string problem;
        bool stopped = false;                                 ///< before it was ready: all but the method is empty
        std::future<std::unique_ptr<HostNetwork>> preparing;  ///< of the reference, beside the method's first frames
    };
    struct Submitted {
        Frame frame;
        Look look;
    };
    static Built build(
        const Method& method, const Setup& setup, EngineKind product, Size picture, std::stop_token stop);
    void startBuilding(const Method& method, Size picture);
    void follow(Size picture);
    void run(Built built);
    void useProduct();
    void measure(Size picture, Output& output);
    void settleInput(const TimedRun& run, const InputChoice& choice);
    void compare(Output& output);
    [[nodiscard]] bool hasReference();
    void runReference();
    [[nodiscard]] bool ready() const;
    [[nodiscard]] Engine& live() const { return now_.engine ? *now_.engine : *product_; }

    std::unique_ptr<Engine> product_;
    Setup setup_;
    std::shared_ptr<MethodSwitch> methods_;
    Built now_;                       ///< what runs; empty for the product's
    std::optional<Submitted> frame_;  ///< under way in now_
    int underWay_ = 0;
    bool timeLayers_ = false;
    std::chrono::steady_clock::time_point compared_;
    const Method* inBuilding_ = nullptr;  ///< while building_ is valid
    std::stop_source stopBuilding_;
    std::future<Built> building_;  ///< last: it is waited for before what it uses goes
};

}  // namespace matte::ladder
