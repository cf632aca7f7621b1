// SPDX-License-Identifier: Apache-2.0
// The pixel-wise steps of a ConvGRU cell (ConvGru in inference/model/unet.h) on the GPU, around its two convolutions,
// which ConvLaunch runs without an activation. Functions enqueue one kernel on a stream and return; a failed launch
// throws CudaError. Any thread, one at a time per stream.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace matte {

/// A cell's tensors in device memory: [pixels, paddedChannels(C)] or [pixels, paddedChannels(C / 2)] halves, or floats
/// if `inFloats`. Padding channels are zero.
struct GruMemory {
    std::size_t pixels = 0;
    int channels = 0;  ///< C
    bool inFloats = false;
    const void* in = nullptr;         ///< [a, b]
    void* input = nullptr;            ///< b
    float* state = nullptr;           ///< h, in floats at any precision: small steps must not be lost
    void* stateRounded = nullptr;     ///< h as the convolutions read it; the same as `state` if inFloats
    const void* gates = nullptr;      ///< [r, z] before the sigmoid
    void* reset = nullptr;            ///< r h
    const void* candidate = nullptr;  ///< c before tanh
    void* out = nullptr;              ///< [a, b + h']
};

/// Before the gates' convolution: writes `input`.
void takeGruInput(const GruMemory& cell, cudaStream_t stream);
/// After it: writes `reset`.
void resetGruState(const GruMemory& cell, cudaStream_t stream);
/// After the candidate's convolution: writes the new state and `out`.
void updateGruState(const GruMemory& cell, cudaStream_t stream);

}  // namespace matte
