// SPDX-License-Identifier: Apache-2.0
// Random blocks for the ladder's tests, with what the oracle says of them. Any thread.
#pragma once

#include "inference/baselines/model.h"

namespace matte::test {

/// A 3x3 convolution with a batch norm, if wanted, and a ReLU.
struct BlockCase {
    ladder::Block block;
    std::vector<float> input;     ///< [N, C, H, W]
    std::vector<float> expected;  ///< [N, out, H, W]
    BlockCase(const ladder::Shape& shape, int outChannels, bool norm, unsigned seed);
};

}  // namespace matte::test
