// SPDX-License-Identifier: Apache-2.0
// A thread for each value of an output, 256 a block: for kernels whose threads share nothing.
#pragma once

#include "inference/baselines/gpu/gpu.h"

namespace matte::baselines {

constexpr unsigned kForEachThreads = 256;

template <typename Element>
__global__ void forEachKernel(std::size_t count, const __grid_constant__ Element element) {
    const std::size_t i = std::size_t(blockIdx.x) * kForEachThreads + threadIdx.x;
    if (i < count) element(i);
}

/// Calls element(i) on the device for each i below `count`. Throws Error(engine).
template <typename Element>
void launchEach(std::size_t count, const Element& element, cudaStream_t stream) {
    if (count == 0) return;
    forEachKernel<<<blocksFor(count, kForEachThreads), kForEachThreads, 0, stream>>>(count, element);
    CUDA_CHECK(cudaGetLastError());
}

}  // namespace matte::baselines
