// SPDX-License-Identifier: Apache-2.0
// Reads the picture's colours back from the network's input.
#pragma once

#include <cuda_fp16.h>

#include <cstddef>

#include "inference/cuda/pixels/pixels.h"

namespace matte::device {

/// Inverts the normalisation of shrinkToInput(): R, G, B, 0 to 1 up to rounding, of pixel i.
class InputColors {
public:
    explicit InputColors(const NetworkInput& input)
        : input_(input.data),
          mean_{input.mean[0], input.mean[1], input.mean[2]},
          deviation_{input.deviation[0], input.deviation[1], input.deviation[2]},
          inFloats_(input.inFloats) {}

    __device__ float3 operator()(std::size_t i) const {
        float3 v;
        if (inFloats_) {
            const float4 pixel = static_cast<const float4*>(input_)[2 * i];
            v = {pixel.x, pixel.y, pixel.z};
        } else {
            const uint2 pixel = static_cast<const uint2*>(input_)[2 * i];
            const float2 first = __half22float2(*reinterpret_cast<const __half2*>(&pixel.x));
            const float2 second = __half22float2(*reinterpret_cast<const __half2*>(&pixel.y));
            v = {first.x, first.y, second.x};
        }
        return {fmaf(v.x, deviation_.x, mean_.x), fmaf(v.y, deviation_.y, mean_.y), fmaf(v.z, deviation_.z, mean_.z)};
    }

private:
    const void* input_;
    float3 mean_, deviation_;
    bool inFloats_;
};

}  // namespace matte::device
