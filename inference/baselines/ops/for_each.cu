// SPDX-License-Identifier: Apache-2.0
#include "inference/baselines/ops/for_each.h"

#include "inference/cuda/device/cuda.h"

namespace matte::baselines {
namespace {

constexpr unsigned kThreads = 256;

template <typename Element>
__global__ void forEachKernel(std::size_t count, const __grid_constant__ Element element) {
    const std::size_t i = std::size_t(blockIdx.x) * kThreads + threadIdx.x;
    if (i < count) element(i);
}

template <typename Element>
void launch(std::size_t count, const Element& element, cudaStream_t stream) {
    if (count == 0) return;
    forEachKernel<<<unsigned((count + kThreads - 1) / kThreads), kThreads, 0, stream>>>(count, element);
    CUDA_CHECK(cudaGetLastError());
}

}  // namespace

void launchForEach(std::size_t count, const ConvAt& element, StreamHandle stream) {
    launch(count, element, stream);
}
void launchForEach(std::size_t count, const MaxPoolAt& element, StreamHandle stream) {
    launch(count, element, stream);
}
void launchForEach(std::size_t count, const AveragePoolAt& element, StreamHandle stream) {
    launch(count, element, stream);
}
void launchForEach(std::size_t count, const ActivationAt& element, StreamHandle stream) {
    launch(count, element, stream);
}
void launchForEach(std::size_t count, const MaxoutAt& element, StreamHandle stream) {
    launch(count, element, stream);
}
void launchForEach(std::size_t count, const FullyConnectedAt& element, StreamHandle stream) {
    launch(count, element, stream);
}
void launchForEach(std::size_t count, const SoftmaxAt& element, StreamHandle stream) {
    launch(count, element, stream);
}

}  // namespace matte::baselines
