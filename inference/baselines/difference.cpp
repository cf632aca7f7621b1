// SPDX-License-Identifier: Apache-2.0
#include "inference/baselines/difference.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace matte::baselines {

Difference difference(std::span<const float> expected, std::span<const float> actual) {
    if (expected.size() != actual.size() || expected.empty()) return {NAN, NAN, NAN};
    double sum = 0, maximum = 0, squares = 0, power = 0;
    const auto count = std::ptrdiff_t(expected.size());
#pragma omp parallel for schedule(static) reduction(+ : sum, squares, power) reduction(max : maximum)
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        const double e = double(expected[std::size_t(i)]), d = std::fabs(double(actual[std::size_t(i)]) - e);
        sum += d;
        squares += d * d;
        power += e * e;
        maximum = std::max(maximum, d);
    }
    // A NaN does not come through std::max, but it does through the sum.
    if (std::isnan(sum)) maximum = std::numeric_limits<double>::quiet_NaN();
    return {sum / double(count), maximum, squares / std::max(power, 1e-300)};
}

}  // namespace matte::baselines
