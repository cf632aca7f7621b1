// SPDX-License-Identifier: Apache-2.0
// The recurrent state of a source's frames on the GPU, and the scene cut (inference/matting/scene_cut.h) that ends it,
// so that a frame's network need not wait for the host. Functions enqueue kernels on a stream and return; a failed
// launch throws CudaError. Each frame of a source updates the same RecurrentMemory, in order, as with TemporalMemory.
//
//     restoreState(memory, input, size, network.state(), stream);
//     network.forward(stream);
//     keepState(memory, network.state(), flag.onDevice, stream);
#pragma once

#include "inference/cuda/pixels/pixels.h"
#include "inference/matting/scene_cut.h"

namespace matte::device {

/// What is kept between frames, in device memory.
struct RecurrentMemory {
    /// All zeros: no frame before.
    struct Scene {
        SceneCut cut;
        SceneCut::Grid now;
        int changed;  ///< whether there is a cut before the present frame
    };
    Scene* scene = nullptr;      ///< one, independent of the size
    std::byte* state = nullptr;  ///< as CudaNetwork::state(); zeros: none
    std::size_t bytes = 0;       ///< of `state`, a multiple of 16
};
/// Clear what is kept: resetScene() for a new source or size, resetState() whenever the next frame does not continue
/// the last.
void resetScene(const RecurrentMemory& memory, cudaStream_t stream);
void resetState(const RecurrentMemory& memory, cudaStream_t stream);

/// Copies the state of the frame before to `state`, or zeros if `input`, [h, w] of `size`, shows another scene.
void restoreState(
    const RecurrentMemory& memory, const NetworkInput& input, Size size, std::byte* state, cudaStream_t stream);
/// Keeps `state` for the next frame, or zeros if `nonFinite`, in device memory, is set.
void keepState(const RecurrentMemory& memory, const std::byte* state, const int* nonFinite, cudaStream_t stream);

}  // namespace matte::device
