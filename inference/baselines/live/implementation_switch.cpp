// SPDX-License-Identifier: Apache-2.0
#include "inference/baselines/live/implementation_switch.h"

namespace matte::baselines {

void ImplementationSwitch::choose(const Implementation* implementation) {
    const std::scoped_lock lock(mutex_);
    if (implementation == status_.chosen) return;
    status_.chosen = implementation;
    status_.problem.clear();
    run_.request_stop();  // a run may take seconds
}

ImplementationStatus ImplementationSwitch::status() const {
    const std::scoped_lock lock(mutex_);
    return status_;
}

const Implementation* ImplementationSwitch::chosen() const {
    const std::scoped_lock lock(mutex_);
    return status_.chosen;
}

std::stop_token ImplementationSwitch::begin(const Implementation* implementation) {
    const std::scoped_lock lock(mutex_);
    status_.running = implementation;
    status_.ms = status_.productMs = 0;
    status_.difference.reset();
    status_.input = own_ = {};
    status_.smaller.clear();
    run_ = {};
    return run_.get_token();
}

void ImplementationSwitch::makeWay() {
    const std::scoped_lock lock(mutex_);
    run_.request_stop();
}

void ImplementationSwitch::measured(const TimedRun& run, Size own) {
    const std::scoped_lock lock(mutex_);
    status_.ms = run.ms;
    if (!status_.running || (run.input == status_.input && own == own_)) return;
    if (!(run.input == status_.input)) status_.difference.reset();
    status_.input = run.input;
    own_ = own;
    status_.smaller = whySmaller(run, own);  // once a size: a text that changes can't be read
}

void ImplementationSwitch::compared(double productMs, const Difference& difference) {
    const std::scoped_lock lock(mutex_);
    status_.productMs = productMs;
    status_.difference = difference;
}

void ImplementationSwitch::failed(const Implementation& implementation, const std::string& sentence) {
    const std::scoped_lock lock(mutex_);
    if (status_.chosen != &implementation) return;
    status_.chosen = nullptr;
    status_.problem =
        "The implementation " + std::string(implementation.name) + " failed, and the default goes on. " + sentence;
}

}  // namespace matte::baselines
