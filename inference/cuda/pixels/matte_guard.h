// SPDX-License-Identifier: Apache-2.0
// MatteGuard (inference/matting/matte_guard.h) on the GPU, where what it says is needed before the composite is begun.
// Each function enqueues kernels on a stream and returns; a bad launch throws CudaError. The memory of one source of
// frames passes from frame to frame, as TemporalMemory does.
//
//     guardMatte(network.alpha(), network.input(), false, mean, deviation, memory, flag, stream);
#pragma once

#include "inference/cuda/pixels/pixels.h"
#include "inference/matting/matte_guard.h"

namespace matte::device {

/// What is remembered of the frames before; device memory.
struct GuardMemory {
    /// What the guard knows, and what is counted of one frame. Zeros: nothing is known.
    struct State {
        MatteGuard guard;
        unsigned covered, notFinite;
        unsigned long long change;
    };
    Size size;                 ///< of the network's matte
    State* state = nullptr;    ///< of any size
    float4* before = nullptr;  ///< [h, w]: the colours of the frame before; kForgotten and below: there was none
};
/// Another source, or only another size, of whose pictures none is known.
void resetCoverage(const GuardMemory& memory, cudaStream_t stream);
void resetPicture(const GuardMemory& memory, cudaStream_t stream);

/// Judges `matte` [h, w] of the picture in `input`, the network's as shrinkToInput() made it, and sets the flag to the
/// MatteFault, if it is one.
void guardMatte(const float* matte,
                const void* input,
                bool inFloats,
                const std::array<float, 3>& mean,
                const std::array<float, 3>& deviation,
                const GuardMemory& memory,
                const NonFiniteFlag& nonFinite,
                cudaStream_t stream);

}  // namespace matte::device
