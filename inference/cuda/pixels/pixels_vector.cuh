// SPDX-License-Identifier: Apache-2.0
// float4 arithmetic and the blocks of threads of the pixel kernels.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "inference/core/image.h"
#include "inference/core/pixel_math.h"

namespace matte::device {

constexpr int kBlockWidth = 32, kBlockHeight = 8;
/// A thread for each pixel. A grid is at most 65535 blocks high, a picture may be higher: then a thread does several.
inline dim3 blocksFor(Size size) {
    return {unsigned(size.width + kBlockWidth - 1) / kBlockWidth,
            std::min(unsigned(size.height + kBlockHeight - 1) / kBlockHeight, 65535U)};
}

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
/// Straight alpha, rounded to bytes, of premultiplied R, G, B and A, 0 to 255.
__device__ inline uchar4 straight(float4 v) {
    const float scale = v.w > 0 ? 255 / v.w : 0.0F;
    return {toByte(v.x * scale), toByte(v.y * scale), toByte(v.z * scale), toByte(v.w)};
}

}  // namespace matte::device
