// SPDX-License-Identifier: Apache-2.0
#include "inference/ladder/live/input_choice.h"

#include <algorithm>
#include <cstdio>

namespace matte::ladder {
namespace {

constexpr int kStep = 32;  // pixels of the longest side: a multiple of what networks of 3 to 6 levels need

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
    const std::string at = "At " + text(run.input);
    const std::string end = "; the network's own " + text(own) + " would take " + seconds(expectedMs(run, own)) + ".";
    if (run.ms > kTooLongMs) return at + " a frame still takes " + seconds(run.ms) + end;
    return at + ", so that a frame takes under a second, people are found less well" + end;
}

}  // namespace matte::ladder
