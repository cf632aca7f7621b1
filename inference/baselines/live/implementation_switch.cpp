// SPDX-License-Identifier: Apache-2.0
#include "inference/baselines/live/implementation_switch.h"

#include <algorithm>
#include <cstdio>

namespace matte::baselines {
namespace {

constexpr int kFewAreFound = 96;  // pixels of the longest side, below which networks of people find next to none

/// Between the longest sides that are tried, pixels: a multiple of what the network's sides are.
int stepOf(const UNet& unet) {
    return std::max(32, 1 << (unet.levels() - 1));
}

double expectedMs(const TimedRun& run, Size input) {
    return run.ms * double(input.pixels()) / double(run.input.pixels());
}

std::string text(Size size) {
    return std::to_string(size.width) + "x" + std::to_string(size.height);
}

std::string seconds(double ms) {
    char text[32];
    std::snprintf(text, sizeof text, ms < 9950 ? "%.1f s" : "%.0f s", ms / 1000);
    return text;
}

}  // namespace

Size InputChoice::smallest() const {
    const int step = stepOf(unet_);
    return own().longest() <= step ? own() : unet_.inputSize(picture_, step);
}

Size InputChoice::within(double ms, const TimedRun& run) const {
    if (expectedMs(run, own()) <= ms) return own();
    Size largest = smallest();
    const int step = stepOf(unet_);
    for (int side = 2 * step; side < own().longest(); side += step) {
        const Size input = unet_.inputSize(picture_, side);
        if (expectedMs(run, input) <= ms) largest = input;
    }
    return largest;
}

bool isHopeless(double spentMs, double begun, double ms) {
    constexpr double kTellingMs = 25, kUneven = 2;  // a layer may be that much slower than the network
    if (spentMs >= ms) return true;
    return spentMs >= kTellingMs && begun > 0 && spentMs / begun > kUneven * ms;
}

std::string whySmaller(const TimedRun& run, Size own) {
    if (run.input.pixels() >= own.pixels()) return "";
    const std::string takes = run.ms > kTooLongMs ? ", where the network still takes " + seconds(run.ms)
                                                  : ", so that the network takes under a second";
    const bool isTiny = run.input.longest() < kFewAreFound;
    return "Runs at " + text(run.input) + takes +
           (isTiny ? "; hardly anybody is found there." : "; people are found less well there.") + " At its own " +
           text(own) + " it would take " + seconds(expectedMs(run, own)) + ".";
}

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
