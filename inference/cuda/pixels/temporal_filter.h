// SPDX-License-Identifier: Apache-2.0
// What matting/temporal_filter.h does, on the GPU. Each function enqueues kernels on a stream and returns; a bad launch
// throws CudaError. The memory of one source of frames passes from frame to frame: with two streams,
// applyTemporalFilter() of a frame waits for the one before. Any thread, one at a time for each stream.
//
//     reset(memory, stream);                                        // another source, or another size
//     applyTemporalFilter(selected, network.input(), false, mean, deviation, params, flag.onDevice, memory, scratch,
//                         matte, stream);
#pragma once

#include "inference/cuda/pixels/pixels.h"

namespace matte::device {

/// What is remembered of the frames before; device memory.
struct TemporalMemory {
    Size size;                    ///< of the network's matte
    float* alpha = nullptr;       ///< [h, w]
    float4* reference = nullptr;  ///< [h, w]: the blurred colour that alpha belongs to; below 0: nothing is remembered
    unsigned char* kept = nullptr;  ///< [h, w]: keepComponents()'s
    static std::size_t bytes(Size size);
    /// Parts of `memory`, which holds bytes(size), each at a multiple of 256. reset() before the first frame.
    static TemporalMemory in(std::byte* memory, Size size);
};
void reset(const TemporalMemory& memory, cudaStream_t stream);

/// Memory that one call needs; nothing in it is kept.
struct TemporalScratch {
    float4* colors = nullptr;   ///< [h, w], blurred
    float* motion = nullptr;    ///< [h, w]
    unsigned* moved = nullptr;  ///< how many pixels moved far
    static std::size_t bytes(Size size);
    static TemporalScratch in(std::byte* memory, Size size);
};

/// `matte` [h, w] -> `out` [h, w] by params->temporalSmoothing and the motion in `input`, the network's input as
/// shrinkToInput() made it. When `nonFinite` is set the matte is passed on as it is and everything before is forgotten.
/// `params` and `nonFinite` lie in device memory. out may be matte.
void applyTemporalFilter(const float* matte,
                         const void* input,
                         bool inFloats,
                         const std::array<float, 3>& mean,
                         const std::array<float, 3>& deviation,
                         const ResolvedParams* params,
                         const int* nonFinite,
                         const TemporalMemory& memory,
                         const TemporalScratch& scratch,
                         float* out,
                         cudaStream_t stream);

}  // namespace matte::device
