// SPDX-License-Identifier: Apache-2.0
// The colours that a network's input was made of, for kernels that look at the picture once more.
#pragma once

#include <cuda_fp16.h>

#include <array>
#include <cstddef>

namespace matte::device {

/// R, G, B of 0 to 1, but for rounding, out of the network's input as shrinkToInput() makes it.
class InputColors {
public:
    InputColors(const void* input,
                bool inFloats,
                const std::array<float, 3>& mean,
                const std::array<float, 3>& deviation)
        : input_(input),
          mean_{mean[0], mean[1], mean[2]},
          deviation_{deviation[0], deviation[1], deviation[2]},
          inFloats_(inFloats) {}

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
