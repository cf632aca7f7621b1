// SPDX-License-Identifier: Apache-2.0
// ProcessorRates: the processor's peak rates in single precision, measured in steps short enough to fit between two
// live frames. One thread at a time; uses the threads of inference/core/parallel.h.
//
//     ProcessorRates rates;
//     while (rates.measure()) {}
#pragma once

#include <vector>

namespace matte {

class ProcessorRates {
public:
    /// Runs the next step, of about 20 ms. False when no step was left.
    bool measure();
    [[nodiscard]] bool done() const;
    /// A multiply-add counts as two operations; memory reads and writes both count. Final once done().
    [[nodiscard]] double flopsPerSecond() const;
    [[nodiscard]] double bytesPerSecond() const;

private:
    void multiply();
    void copy();

    int step_ = 0, threads_ = 1;
    double multiplied_ = 1e9, copied_ = 1e9;  ///< seconds, the minimum so far
    std::vector<float> from_, to_;            ///< allocated only for the copy
};

}  // namespace matte
