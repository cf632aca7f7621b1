// SPDX-License-Identifier: Apache-2.0
#include "inference/baselines/live/baseline_selector.h"

#include <chrono>
#include <utility>

namespace matte::baselines {

BaselineSelector::BaselineSelector(Product product, std::shared_ptr<ImplementationSwitch> implementations)
    : product_(std::move(product)), implementations_(std::move(implementations)) {
    const Implementation* first = implementations_->chosen();
    if (!first) return;
    std::promise<Built> built;
    built.set_value(build(*first, {}, implementations_->goOn()));  // a token that another choice triggers
    inBuilding_ = first;
    building_ = built.get_future();
}

BaselineSelector::~BaselineSelector() {
    stopBuilding_.request_stop();  // else building_ is waited for as long as a measuring run takes: seconds
}

BaselineSelector::Built BaselineSelector::build(const Implementation& implementation,
                                                Size picture,
                                                const std::stop_token& stop) const {
    Built built{&implementation, nullptr, ""};
    try {
        built.engine = std::make_unique<BaselineEngine>(implementation, product_, implementations_, picture, stop);
    } catch (const Cancelled&) {  // NOLINT(bugprone-empty-catch)
    } catch (const std::exception& error) {
        built.problem = error.what();
    }
    return built;
}

void BaselineSelector::startBuilding(const Implementation& implementation, Size picture) {
    inBuilding_ = &implementation;
    stopBuilding_ = {};
    const auto work = [this, &implementation, picture, stop = stopBuilding_.get_token()] {
        Built built = build(implementation, picture, stop);
        if (built.engine && implementations_->chosen() == &implementation) implementations_->makeWay();
        return built;
    };
    building_ = std::async(std::launch::async, work);
}

bool BaselineSelector::ready() const {
    return building_.valid() && building_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

std::optional<std::unique_ptr<LiveEngine>> BaselineSelector::next(Size picture) {
    const Implementation* wanted = implementations_->chosen();
    if (building_.valid() && wanted != inBuilding_) stopBuilding_.request_stop();  // nobody waits for it any more
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
        if (built.implementation == wanted && !isStopped) return run(std::move(built));
        // Another was chosen meanwhile, or another and then this one again.
    }
    startBuilding(*wanted, picture);
    return std::nullopt;
}

BaselineSelector::Next BaselineSelector::run(Built built) {
    if (!built.engine) {
        implementations_->failed(*built.implementation, built.problem);
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
