// SPDX-License-Identifier: Apache-2.0
// What the GPU's baselines share: parameters in device memory, and the number of blocks of a launch. Any thread, with
// the device current.
#pragma once

#include <span>

#include "inference/baselines/baselines.h"
#include "inference/cuda/device/cuda.h"

namespace matte::baselines {

DeviceBuffer uploaded(std::span<const float> values);
/// gamma, beta, mean, variance, one after the other.
std::vector<float> joined(const BatchNorm& norm);

constexpr unsigned blocksFor(std::size_t values, unsigned perBlock) {
    return unsigned((values + perBlock - 1) / perBlock);
}

/// The first baseline's convolution alone.
std::unique_ptr<Layer> makeDirectConv(const Filter& filter, const Shape& in);

}  // namespace matte::baselines
