// SPDX-License-Identifier: Apache-2.0
// float4 arithmetic for the pixel kernels.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "inference/core/pixel_math.h"

namespace matte::device {

__device__ inline void accumulate(float& sum, float weight, float value) {
    sum = fmaf(weight, value, sum);
}
__device__ inline void accumulate(float4& sum, float weight, float4 value) {
    sum = {fmaf(weight, value.x, sum.x), fmaf(weight, value.y, sum.y), fmaf(weight, value.z, sum.z),
           fmaf(weight, value.w, sum.w)};
}
__device__ inline float4 scaled(float4 v, float by) {
    return {v.x * by, v.y * by, v.z * by, v.w * by};
}
using matte::mix;
__device__ inline float4 mix(float4 from, float4 to, float amount) {
    return {mix(from.x, to.x, amount), mix(from.y, to.y, amount), mix(from.z, to.z, amount), mix(from.w, to.w, amount)};
}
__device__ inline std::uint8_t toByte(float value) {
    return std::uint8_t(fminf(fmaxf(value + 0.5F, 0.0F), 255.0F));
}

}  // namespace matte::device
