// SPDX-License-Identifier: Apache-2.0
#include "inference/ladder/live/input_choice.h"

#include <algorithm>
#include <cstdio>

namespace matte::ladder {
namespace {

constexpr int kStep = 32;         // pixels of the longest side: a multiple of what networks of 3 to 6 levels need
constexpr int kFewAreFound = 96;  // pixels of the longest side, below which networks of people find next to none

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
    return own().longest() <= kStep ? own() : unet_.inputSize(picture_, kStep);
}

Size InputChoice::within(double ms, const TimedRun& run) const {
    if (expectedMs(run, own()) <= ms) return own();
    Size largest = smallest();
    for (int side = 2 * kStep; side < own().longest(); side += kStep) {
        const Size input = unet_.inputSize(picture_, side);
        if (expectedMs(run, input) <= ms) largest = input;
    }
    return largest;
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

}  // namespace matte::ladder
