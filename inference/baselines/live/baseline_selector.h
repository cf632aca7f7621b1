// SPDX-License-Identifier: Apache-2.0
// BaselineSelector: lets the live network be replaced by another implementation while frames run. What is chosen is
// built on a thread of its own, and the frames go on as before until it is ready; when it fails, the frame at hand and
// all others go on by the product's engine, so that nothing is shown that has no matte. While none is chosen nothing of
// the baselines is in memory.
//
//     engines.selector = std::make_unique<BaselineSelector>(product, implementations);
#pragma once

#include <future>

#include "inference/baselines/live/baseline_engine.h"
#include "inference/engine/live_queue.h"

namespace matte::baselines {

class BaselineSelector final : public EngineSelector {
public:
    BaselineSelector(Product product, std::shared_ptr<ImplementationSwitch> implementations);
    /// Cancels an implementation that is being built, and waits for that.
    ~BaselineSelector() override;

    /// The first call builds what is already chosen on the calling thread.
    std::optional<std::unique_ptr<LiveEngine>> next(Size picture, const LiveEngine& usual) override;
    void failed(const std::string& sentence) override;
    [[nodiscard]] std::string problem() const override { return implementations_->status().problem; }

private:
    /// An implementation, ready to run; or why it isn't.
    struct Built {
        const Implementation* implementation = nullptr;
        std::unique_ptr<BaselineEngine> engine;  ///< null without a problem: stopped before it was ready
        std::string problem;
    };
    using Next = std::optional<std::unique_ptr<LiveEngine>>;
    [[nodiscard]] Built build(const Implementation& implementation,
                              EngineKind product,
                              Size picture,
                              const std::stop_token& stop) const;
    void startBuilding(const Implementation& implementation, EngineKind product, Size picture);
    Next run(Built built);
    [[nodiscard]] bool ready() const;

    const Product product_;
    const std::shared_ptr<ImplementationSwitch> implementations_;
    bool isFirst_ = true;  ///< next() was not called yet
    const Implementation* running_ = nullptr;
    const Implementation* inBuilding_ = nullptr;  ///< while building_ is valid
    std::stop_source stopBuilding_;
    std::future<Built> building_;  ///< last: it is waited for before what it uses goes
};

}  // namespace matte::baselines
