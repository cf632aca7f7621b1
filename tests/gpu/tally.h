// SPDX-License-Identifier: Apache-2.0
// Counts checks and prints each difference beside its limit, for programs that run without a test framework.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>

namespace matte::test {

/// Largest and mean absolute difference; a NaN counts as huge.
struct Difference {
    double maximum = 0, mean = 0;
};
template <typename A, typename B>
Difference difference(const A& a, const B& b) {
    Difference result;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double d = std::fabs(double(a[i]) - double(b[i]));
        result.maximum = std::isnan(d) ? 1e30 : d > result.maximum ? d : result.maximum;
        result.mean += d / double(a.size());
    }
    return result;
}

class Tally {
public:
    void check(const std::string& name, Difference found, Difference limit) {
        const bool passes = found.maximum <= limit.maximum && found.mean <= limit.mean;
        std::printf("%s %-44s max %.3g (at most %.3g), mean %.3g (at most %.3g)\n", passes ? "pass" : "FAIL",
                    name.c_str(), found.maximum, limit.maximum, found.mean, limit.mean);
        count(passes);
    }
    void check(const std::string& name, bool passes) {
        std::printf("%s %s\n", passes ? "pass" : "FAIL", name.c_str());
        count(passes);
    }
    [[nodiscard]] int failed() const { return failed_; }
    /// Prints the totals. Exit code of a program that ran these checks.
    [[nodiscard]] int finish() const {
        std::printf("%d passed, %d failed\n", passed_, failed_);
        return failed_ == 0 ? 0 : 1;
    }

private:
    void count(bool passes) {
        ++(passes ? passed_ : failed_);
        std::fflush(stdout);
    }
    int passed_ = 0, failed_ = 0;
};

}  // namespace matte::test
