// SPDX-License-Identifier: Apache-2.0
// matting/temporal_filter.h on the GPU. Functions enqueue kernels on a stream and return; a failed launch throws
// CudaError. Each frame of a source updates the same TemporalMemory: with two streams, the caller makes a frame's
// applyTemporalFilter() wait for the previous frame's. Any thread, one at a time per stream.
//
//     reset(memory, stream);                                        // another source, or another size
//     applyTemporalFilter(selected, input, params, flag.onDevice, memory, scratch, matte, stream);
#pragma once

#include "inference/cuda/pixels/pixels.h"

namespace matte::device {

/// The filter's state between frames, in device memory. Call reset() before the first frame.
struct TemporalMemory : Partitioned<TemporalMemory> {
    TemporalMemory() = default;
    TemporalMemory(Partition& parts, Size size);
    Size size;                      ///< of the network's matte
    float* alpha = nullptr;         ///< [h, w]: filtered alpha
    float4* reference = nullptr;    ///< [h, w]: the blurred colour that alpha belongs to; below 0: no history
    unsigned char* kept = nullptr;  ///< [h, w]: for keepComponents()
};
void reset(const TemporalMemory& memory, cudaStream_t stream);

/// Scratch memory of one call.
struct TemporalScratch : Partitioned<TemporalScratch> {
    TemporalScratch() = default;
    TemporalScratch(Partition& parts, Size size);
    float4* colors = nullptr;   ///< [h, w], blurred
    float* motion = nullptr;    ///< [h, w]
    unsigned* moved = nullptr;  ///< number of pixels with motion above kCutMotion
};

/// Filters `matte` [h, w] into `out` [h, w], which may be the same, by params->temporalSmoothing and the motion in
/// `input`. If `nonFinite` is set, copies the matte and clears the history.
/// `params` and `nonFinite` lie in device memory.
void applyTemporalFilter(const float* matte,
                         const NetworkInput& input,
                         const ResolvedParams* params,
                         const int* nonFinite,
                         const TemporalMemory& memory,
                         const TemporalScratch& scratch,
                         float* out,
                         cudaStream_t stream);

}  // namespace matte::device
