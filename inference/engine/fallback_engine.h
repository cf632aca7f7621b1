// SPDX-License-Identifier: Apache-2.0
// Engine that goes on with a second engine when the device of the first fails, so that no picture is lost: what a lost
// device held is cut out again from its source, also when a finished photo is asked for only then. See engine.h for the
// rules.
#pragma once

#include <deque>

#include "inference/engine/standby_engine.h"

namespace matte {

class FallbackEngine final : public Engine {
public:
    using MakeEngine = StandbyEngine::Make;
    /// `second` is made when it is first needed.
    FallbackEngine(std::unique_ptr<Engine> first, MakeEngine second);

    /// With the first engine, or, where making it throws DeviceFailure, the second alone.
    static std::unique_ptr<Engine> create(const std::function<std::unique_ptr<Engine>()>& first, MakeEngine second);

    /// Of the engine that the next picture goes to.
    [[nodiscard]] EngineInfo info() const override;
    std::shared_ptr<Cutout> cutOut(std::shared_ptr<const Image> source, std::stop_token stop) override;
    Output composite(Cutout& cutout, const CompositeParams& params, Size size, std::stop_token stop) override;
    Image matte(Cutout& cutout, const CompositeParams& params, Size size, std::stop_token stop) override;

    [[nodiscard]] PixelMemory frameMemory() const override;
    [[nodiscard]] int slots() const override;
    void submit(const Frame& frame, const CompositeParams& params) override;
    Output take() override;
    void drop() override;
    void reset() override;
    [[nodiscard]] std::vector<LayerInfo> layers() const override;
    void timeLayers(bool on) override;
    std::optional<MachineRates> measureRates() override;

private:
    struct Submitted {
        Frame frame;
        CompositeParams params;
    };
    template <typename Work>
    auto withLive(const Work& work) const;
    template <typename Work>
    auto onLive(const Work& work);
    void startWaiting(Engine& engine);
    template <typename Work>
    auto onItsEngine(Cutout& cutout, const std::stop_token& stop, const Work& work);
    void failOver(const DeviceFailure& failure);
    void beginAgain();

    std::unique_ptr<Engine> first_;
    std::shared_ptr<StandbyEngine> second_;
    std::string warning_;  ///< the last picture that was too large for the first engine
    std::deque<Submitted> underWay_;
    std::size_t started_ = 0;    ///< of these, how many the engine has; the second engine has fewer slots
    bool liveOnSecond_ = false;  ///< until another source begins: a device that is full for one frame is for the next
    bool timeLayers_ = false;
};

}  // namespace matte
