// SPDX-License-Identifier: Apache-2.0
// How far one output is from another. Any thread.
#pragma once

#include <span>

namespace matte::baselines {

struct Difference {
    double mean = 0, maximum = 0, nmse = 0;
};
/// NaN throughout for outputs of different lengths, or none.
Difference difference(std::span<const float> expected, std::span<const float> actual);

}  // namespace matte::baselines
