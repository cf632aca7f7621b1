// SPDX-License-Identifier: Apache-2.0
// MatteGuard (inference/matting/matte_guard.h) on the GPU, so that the composite need not wait for the host. Functions
// enqueue kernels on a stream and return; a failed launch throws CudaError. Each frame of a source updates the same
// GuardMemory, in order, as with TemporalMemory.
//
//     guardMatte(network.alpha(), input, memory, flag, stream);
#pragma once

#include "inference/cuda/pixels/pixels.h"
#include "inference/matting/matte_guard.h"

namespace matte::device {

/// The guard's state between frames, in device memory.
struct GuardMemory {
    /// The guard and the sums of one frame. All zeros: no history.
    struct State {
        MatteGuard guard;
        unsigned covered, notFinite;
        unsigned long long change;
    };
    Size size;                 ///< of the network's matte
    State* state = nullptr;    ///< one, independent of the size
    float4* before = nullptr;  ///< [h, w]: colours of the previous frame; at most kForgotten if there is none
};
/// Clear the history: resetCoverage() for a new source, resetPicture() for a new source or size.
void resetCoverage(const GuardMemory& memory, cudaStream_t stream);
void resetPicture(const GuardMemory& memory, cudaStream_t stream);

/// Judges `matte` [h, w] and on a MatteFault sets the flag to it.
void guardMatte(const float* matte,
                const NetworkInput& input,
                const GuardMemory& memory,
                const NonFiniteFlag& nonFinite,
                cudaStream_t stream);

}  // namespace matte::device
