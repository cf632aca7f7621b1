// SPDX-License-Identifier: Apache-2.0
// Random blocks for the baselines' tests, with what the oracle says of them. Any thread.
#pragma once

#include "inference/baselines/model.h"

namespace matte::test {

/// A 3x3 convolution with a batch norm, if wanted, and a ReLU.
struct BlockCase {
    baselines::Block block;
    std::vector<float> input;     ///< [N, C, H, W]
    std::vector<float> expected;  ///< [N, out, H, W]
    BlockCase(const baselines::Shape& shape, int outChannels, bool norm, unsigned seed);
};

}  // namespace matte::test
