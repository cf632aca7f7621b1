// SPDX-License-Identifier: Apache-2.0
// One layer with random data on the GPU, to be checked or timed with any configuration.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "inference/cuda/conv/conv.h"

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
    /// For configurations of `kernel`: its values are what the random ones are rounded to.
    ConvCase(const ConvShape& shape, ConvKernel kernel, unsigned seed);

    /// Fills the outputs with NaN, runs `config` and compares every value with the reference.
    CheckResult check(const ConvConfig& config);
    /// Ready to time.
    ConvLaunch launch(const ConvConfig& config);
    [[nodiscard]] const ConvShape& shape() const { return shape_; }

private:
    struct Weights {
        DeviceBuffer weights, bias;
    };
    const Weights& weightsFor(const ConvConfig& config);
    /// Random values of `channels`, rounded as the kernel reads them and left in `host`, on the device.
    DeviceBuffer makeInput(std::size_t pixels, int channels, unsigned seed, std::vector<float>& host) const;
    void computeReference();
    void makeHead(unsigned seed);
    [[nodiscard]] std::vector<float> expectedAlpha() const;

    ConvShape shape_;
    DeviceFacts device_;
    Filter filter_;
    int valueBytes_;
    std::vector<float> host_[2], hostAdded_;  ///< dense inputs
    DeviceBuffer in_[2], added_, out_, pooled_;
    Filter headFilter_;
    DeviceBuffer headWeights_, headBias_, alpha_;           ///< of shapes with a head
    std::map<std::pair<ConvKernel, int>, Weights> packed_;  ///< by kernel and chunk
    std::vector<float> expected_;                           ///< dense; empty until the first check
};

/// "conv3x3 2x17x33 64+64->128 pool", "depthwise 1x8x8 96->96 k5 s2"
std::string text(const ConvShape& shape);
/// "mma", "sm90" or "fp32"; anything else is mma.
ConvKernel kernelNamed(const std::string& name);

}  // namespace matte::test
