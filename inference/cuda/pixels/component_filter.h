// SPDX-License-Identifier: Apache-2.0
// The steps of matting/component_filter.h on the GPU; nothing goes to the host. Each function enqueues kernels on a
// stream and returns; a bad launch throws CudaError. Any thread, one at a time for each stream.
//
//     keepComponents(network.alpha(), size, params, {}, memory.kept, scratch, selected, stream);
#pragma once

#include "inference/cuda/pixels/pixels.h"

namespace matte::device {

/// Memory that one call needs; nothing in it is kept.
struct ComponentScratch {
    int* parents = nullptr;              ///< [h, w]: a pixel of the same part, or -1
    unsigned* areas = nullptr;           ///< [h, w], at each part's root
    unsigned* rooms = nullptr;           ///< [h, w], at each part's root
    unsigned char* sides = nullptr;      ///< [h, w]: kNobody, kGoing, kStaying
    uchar2* near = nullptr;              ///< [h, w]: distances within the row to what stays and what goes
    unsigned long long* most = nullptr;  ///< [2]: the largest area; the most room above its root
    int* going = nullptr;                ///< whether anything goes
    static std::size_t bytes(Size size);
    /// Parts of `memory`, which holds bytes(size), each at a multiple of 256.
    static ComponentScratch in(std::byte* memory, Size size);
};

/// `matte` [h, w] without what params->removeSmallRegions and params->nearestOnly take out; 0 where it is not finite,
/// which sets the flag. `kept` [h, w] remembers who stayed from one frame to the next: 0 at first. `params` lies in
/// device memory.
void keepComponents(const float* matte,
                    Size size,
                    const ResolvedParams* params,
                    const NonFiniteFlag& nonFinite,
                    unsigned char* kept,
                    const ComponentScratch& scratch,
                    float* selected,
                    cudaStream_t stream);

}  // namespace matte::device
