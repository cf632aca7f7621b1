// SPDX-License-Identifier: Apache-2.0
// The pixel-wise steps of a ConvGRU cell (ConvGru in inference/model/unet.h) on NHWC rows in memory: `pixels` of them,
// and `half` = C/2 channels of the state. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace matte::gru {

/// The upper half of a float, rounded to the nearest even.
struct Bfloat16 {
    std::uint16_t bits = 0;
};

/// b [pixels, C/2] from x = [a, b] [pixels, C]. `Value` is float or Bfloat16.
template <typename Value>
void takeInput(const Value* x, std::size_t pixels, int half, float* input);
/// r h from [r, z] [pixels, C] and h [pixels, C/2].
void resetState(const float* gates, const float* state, std::size_t pixels, int half, float* reset);
/// h becomes h' = (1 - z) h + z c, and y [pixels, C] = [a, b + h'].
template <typename Value>
void updateState(
    const float* gates, const float* candidate, const Value* x, std::size_t pixels, int half, float* state, Value* y);

}  // namespace matte::gru
