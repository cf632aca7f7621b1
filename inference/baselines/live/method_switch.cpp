// SPDX-License-Identifier: Apache-2.0
#include "inference/baselines/live/method_switch.h"

namespace matte::ladder {

void MethodSwitch::choose(const Method* method) {
    const std::scoped_lock lock(mutex_);
    if (method == status_.chosen) return;
    status_.chosen = method;
    status_.problem.clear();
    run_.request_stop();  // a run may take seconds
}

MethodStatus MethodSwitch::status() const {
    const std::scoped_lock lock(mutex_);
    return status_;
}

const Method* MethodSwitch::chosen() const {
    const std::scoped_lock lock(mutex_);
    return status_.chosen;
}

std::stop_token MethodSwitch::begin(const Method* method) {
    const std::scoped_lock lock(mutex_);
    status_.running = method;
    status_.ms = status_.productMs = 0;
    status_.difference.reset();
    status_.input = own_ = {};
    status_.smaller.clear();
    run_ = {};
    return run_.get_token();
}

std::stop_token MethodSwitch::goOn() {
    const std::scoped_lock lock(mutex_);
    run_ = {};
    return run_.get_token();
}

void MethodSwitch::makeWay() {
    const std::scoped_lock lock(mutex_);
    run_.request_stop();
}

void MethodSwitch::measured(const TimedRun& run, Size own) {
    const std::scoped_lock lock(mutex_);
    status_.ms = run.ms;
    if (!status_.running || (run.input == status_.input && own == own_)) return;
    if (!(run.input == status_.input)) status_.difference.reset();
    status_.input = run.input;
    own_ = own;
    status_.smaller = whySmaller(run, own);  // once a size: a text that changes can't be read
}

void MethodSwitch::compared(double productMs, const Difference& difference) {
    const std::scoped_lock lock(mutex_);
    status_.productMs = productMs;
    status_.difference = difference;
}

void MethodSwitch::failed(const Method& method, const std::string& sentence) {
    const std::scoped_lock lock(mutex_);
    if (status_.chosen != &method) return;
    status_.chosen = nullptr;
    status_.problem = "The method " + std::string(method.name) + " failed, and the default goes on. " + sentence;
}

}  // namespace matte::ladder
