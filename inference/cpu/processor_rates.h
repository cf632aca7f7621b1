// SPDX-License-Identifier: Apache-2.0
// ProcessorRates: what the processor reaches at best in single precision, measured in steps that are short enough to
// fit between two live frames. One thread at a time; uses the threads of inference/core/parallel.h.
//
//     ProcessorRates rates;
//     while (rates.measure()) {}
#pragma once

#include <vector>

namespace matte {

class ProcessorRates {
public:
    /// The next step, of about 20 ms. False when there was none left to do.
    bool measure();
    [[nodiscard]] bool done() const;
    /// Multiply-adds counted as two, and bytes read and written from and to memory. Sure once all is done.
    [[nodiscard]] double flopsPerSecond() const;
    [[nodiscard]] double bytesPerSecond() const;

private:
    void multiply();
    void copy();

    int step_ = 0, threads_ = 1;
    double multiplied_ = 1e9, copied_ = 1e9;  ///< seconds, the shortest so far
    std::vector<float> from_, to_;            ///< only while they are copied
};

}  // namespace matte
