// SPDX-License-Identifier: Apache-2.0
// One layer with random data on the GPU, to be checked or timed with any configuration.
#pragma once

#include <cuda_fp16.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "inference/cuda/conv.h"

namespace matte::test {

struct CheckResult {
    double nmse = 0, pooledNmse = 0;
    bool paddingZero = true;  ///< channels past the last are zero
    bool guardIntact = true;  ///< nothing was written past the end of the outputs
    [[nodiscard]] bool passed(double limit) const {
        return nmse <= limit && pooledNmse <= limit && paddingZero && guardIntact;
    }
};

class ConvCase {
public:
    ConvCase(const ConvShape& shape, unsigned seed);

    /// Fills the outputs with NaN, runs `config` and compares every value with the reference.
    CheckResult check(const ConvConfig& config);
    /// Ready to time.
    ConvLaunch launch(const ConvConfig& config);
    [[nodiscard]] const ConvShape& shape() const { return shape_; }

private:
    struct Weights {
        DeviceBuffer weights, bias;
    };
    const Weights& weightsFor(int chunk);
    void computeReference();

    ConvShape shape_;
    DeviceFacts device_;
    Filter filter_;
    std::vector<__half> host_[2];  ///< dense inputs
    DeviceBuffer in_[2], out_, pooled_;
    std::map<int, Weights> packed_;  ///< by chunk
    std::vector<float> expected_;    ///< dense; empty until the first check
};

/// "conv3x3 2x17x33 64+64->128 pool"
std::string text(const ConvShape& shape);

}  // namespace matte::test
