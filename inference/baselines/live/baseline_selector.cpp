// SPDX-License-Identifier: Apache-2.0
#include "inference/baselines/live/baseline_selector.h"

#include <chrono>
#include <utility>

#include "inference/core/thread.h"

namespace matte::baselines {

BaselineSelector::BaselineSelector(Product product, std::shared_ptr<ImplementationSwitch> implementations)
    : product_(std::move(product)), implementations_(std::move(implementations)) {}

BaselineSelector::~BaselineSelector() {
    stopBuilding_.request_stop();  // else building_ is waited for as long as a measuring run takes: seconds
}

BaselineSelector::Built BaselineSelector::build(const Implementation& implementation,
                                                EngineKind product,
                                                Size picture,
                                                const std::stop_token& stop) const {
    Built built{&implementation, nullptr, ""};
    const auto make = [&] {
        built.engine =
            std::make_unique<BaselineEngine>(implementation, product_, product, implementations_, picture, stop);
    };
    guarded(make, [&](const char* sentence, ErrorCategory) { built.problem = sentence; });
    return built;
}

void BaselineSelector::startBuilding(const Implementation& implementation, EngineKind product, Size picture) {
    inBuilding_ = &implementation;
    stopBuilding_ = {};
    const auto work = [this, &implementation, product, picture, stop = stopBuilding_.get_token()] {
        Built built = build(implementation, product, picture, stop);
        if (built.engine && implementations_->chosen() == &implementation) implementations_->makeWay();
        return built;
    };
    const auto start = [&] { building_ = std::async(std::launch::async, work); };
    guarded(start, [&](const char* sentence, ErrorCategory) { implementations_->failed(implementation, sentence); });
}

bool BaselineSelector::ready() const {
    return building_.valid() && building_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

std::optional<std::unique_ptr<LiveEngine>> BaselineSelector::next(Size picture, const LiveEngine& usual) {
    const Implementation* wanted = implementations_->chosen();
    if (std::exchange(isFirst_, false)) {
        const std::stop_token another = implementations_->begin(nullptr);
        return wanted ? run(build(*wanted, usual.info().kind, picture, another)) : std::nullopt;
    }
    if (building_.valid() && wanted != inBuilding_) {  // nobody waits for it any more
        stopBuilding_.request_stop();
        if (ready()) building_.get();
    }
    if (wanted == running_) return std::nullopt;
    if (!wanted) {
        running_ = nullptr;
        implementations_->begin(nullptr);
        return std::unique_ptr<LiveEngine>();
    }
    if (building_.valid() && !ready()) return std::nullopt;
    if (building_.valid()) {
        Built built = building_.get();
        const bool isStopped = !built.engine && built.problem.empty();
        if (!isStopped) return run(std::move(built));
    }
    startBuilding(*wanted, usual.info().kind, picture);  // anew where it was given up meanwhile
    return std::nullopt;
}

BaselineSelector::Next BaselineSelector::run(Built built) {
    if (!built.engine) {
        if (!built.problem.empty()) implementations_->failed(*built.implementation, built.problem);
        return std::nullopt;
    }
    running_ = built.implementation;
    built.engine->stopBy(implementations_->begin(running_));
    return std::unique_ptr<LiveEngine>(std::move(built.engine));
}

void BaselineSelector::failed(const std::string& sentence) {
    const Implementation* was = std::exchange(running_, nullptr);
    if (was && !sentence.empty()) implementations_->failed(*was, sentence);
    implementations_->begin(nullptr);
}

}  // namespace matte::baselines
