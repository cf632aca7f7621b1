// SPDX-License-Identifier: Apache-2.0
// Arithmetic of the network's head, shared by all kernels.
#pragma once

#include <cuda_fp16.h>

namespace matte {

/// Dot product of 8 halves of a pixel with their weights, which are 16-byte aligned.
__device__ inline float dot8(uint4 halves, const float* weights) {
    const __half2* pairs = reinterpret_cast<const __half2*>(&halves);
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const float4 four = *reinterpret_cast<const float4*>(weights + 4 * i);
        const float2 low = __half22float2(pairs[2 * i]), high = __half22float2(pairs[2 * i + 1]);
        sum += low.x * four.x + low.y * four.y + high.x * four.z + high.y * four.w;
    }
    return sum;
}

__device__ inline float sigmoid(float value) {
    return 1.0F / (1.0F + expf(-value));
}

}  // namespace matte
