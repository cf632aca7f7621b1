// SPDX-License-Identifier: Apache-2.0
// What the tests on the GPU share. Where there is no GPU their main() skips them, suite by suite with the reason, and
// returns 77. One thread at a time.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "inference/cuda/conv/conv.h"

namespace matte::test {

/// Why `kernel` can't run on the current device, as a sentence; empty when it can.
std::string whyNot(ConvKernel kernel);

/// "mma", "sm90" or "fp32".
std::string nameOf(ConvKernel kernel);
/// All three.
constexpr ConvKernel kKernels[] = {ConvKernel::mma, ConvKernel::sm90, ConvKernel::fp32};

/// As a part of a test's name: everything but letters and digits becomes an underscore.
std::string testName(std::string text);
std::string text(Size size);

/// Whether MATTE_BRIEF is set: under racecheck a kernel takes a hundred times as long.
bool brief();
/// How often a test repeats what it does: `count` times, or an eighth of that (three at least) where it is to be brief.
int repeats(int count);

/// Largest and mean absolute difference; a NaN counts as huge.
struct Difference {
    double maximum = 0, mean = 0;
};
template <typename A, typename B>
Difference difference(const A& a, const B& b) {
    Difference result;
    if (a.size() != b.size()) return {1e30, 1e30};
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double d = std::fabs(double(a[i]) - double(b[i]));
        result.maximum = std::isnan(d) ? 1e30 : d > result.maximum ? d : result.maximum;
        result.mean += d / double(a.size());
    }
    return result;
}
/// Fails, naming `what`, when one of the two is over its limit.
void expectClose(const std::string& what, Difference found, Difference limit);

}  // namespace matte::test
