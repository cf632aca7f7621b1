// SPDX-License-Identifier: Apache-2.0
// matting/component_filter.h on the GPU, without copies to the host. Functions enqueue kernels on a stream and return;
// a failed launch throws CudaError. Any thread, one at a time per stream.
//
//     keepComponents(network.alpha(), size, params, {}, memory.kept, scratch, selected, stream);
#pragma once

#include "inference/cuda/pixels/pixels.h"

namespace matte::device {

/// Scratch memory of one call.
struct ComponentScratch : Partitioned<ComponentScratch> {
    ComponentScratch() = default;
    ComponentScratch(Partition& parts, Size size);
    int* parents = nullptr;              ///< [h, w]: union-find parent, or -1 outside all components
    unsigned* areas = nullptr;           ///< [h, w]: pixels, at each component's root
    unsigned* rooms = nullptr;           ///< [h, w]: prominence, at each component's root
    unsigned char* sides = nullptr;      ///< [h, w]: kNobody, kGoing, kStaying
    uchar2* near = nullptr;              ///< [h, w]: distances within the row to kept and to removed components
    unsigned long long* most = nullptr;  ///< [2]: the largest area; the largest prominence with its root's index
    int* going = nullptr;                ///< whether any component is removed
};

/// Writes to `selected` [h, w] the `matte` [h, w] without the components that params->removeSmallRegions and
/// params->nearestOnly remove; non-finite values become 0 and set the flag. `kept` [h, w], 0 at first, carries the kept
/// components to the next frame. `params` lies in device memory.
void keepComponents(const float* matte,
                    Size size,
                    const ResolvedParams* params,
                    const NonFiniteFlag& nonFinite,
                    unsigned char* kept,
                    const ComponentScratch& scratch,
                    float* selected,
                    cudaStream_t stream);

}  // namespace matte::device
