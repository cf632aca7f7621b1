// SPDX-License-Identifier: Apache-2.0
// A block for each cell of the luma grid; one thread compares the two grids, in shared memory.
#include "inference/cuda/pixels/network_input.cuh"
#include "inference/cuda/pixels/recurrent_state.h"

namespace matte::device {
namespace {

constexpr int kThreads = 256;
static_assert(SceneCut::kCells == kThreads);

__global__ void __launch_bounds__(kThreads) lumaGridKernel(InputColors colors, Size size, SceneCut::Grid* grid) {
    __shared__ unsigned long long sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    const int cell = int(blockIdx.x), row = cell / SceneCut::kSide, column = cell % SceneCut::kSide;
    const int left = SceneCut::begin(column, size.width), width = SceneCut::begin(column + 1, size.width) - left;
    const int top = SceneCut::begin(row, size.height), height = SceneCut::begin(row + 1, size.height) - top;
    unsigned long long mine = 0;
    for (int i = int(threadIdx.x); i < width * height; i += kThreads) {
        const float3 color = colors(std::size_t(top + i / width) * size.width + left + i % width);
        mine += SceneCut::steps(color.x, color.y, color.z);
    }
    atomicAdd(&sum, mine);
    __syncthreads();
    if (threadIdx.x == 0) grid->cells[cell] = width * height > 0 ? std::uint32_t(sum / (width * height)) : 0;
}

/// SceneCut::judge().
__global__ void __launch_bounds__(kThreads) judgeCutKernel(RecurrentMemory::Scene* scene) {
    __shared__ SceneCut::Grid before, now;
    const unsigned i = threadIdx.x;
    before.cells[i] = scene->cut.before.cells[i];
    now.cells[i] = scene->cut.before.cells[i] = scene->now.cells[i];
    __syncthreads();
    if (i > 0) return;
    scene->changed = int(scene->cut.known != 0 && SceneCut::differ(now, before));
    scene->cut.known = 1;
}

/// `from`, or zeros where `*without` is set.
__global__ void __launch_bounds__(kThreads)
    copyKernel(const uint4* from, const int* without, uint4* to, std::size_t count) {
    const std::size_t i = std::size_t(blockIdx.x) * kThreads + threadIdx.x;
    if (i < count) to[i] = without && *without != 0 ? uint4{} : from[i];
}

void copy(const std::byte* from, const int* without, std::byte* to, std::size_t bytes, cudaStream_t stream) {
    const std::size_t count = bytes / sizeof(uint4);
    copyKernel<<<unsigned((count + kThreads - 1) / kThreads), kThreads, 0, stream>>>(
        reinterpret_cast<const uint4*>(from), without, reinterpret_cast<uint4*>(to), count);
    CUDA_CHECK(cudaGetLastError());
}

}  // namespace

void resetScene(const RecurrentMemory& memory, cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(memory.scene, 0, sizeof(RecurrentMemory::Scene), stream));
}

void resetState(const RecurrentMemory& memory, cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(memory.state, 0, memory.bytes, stream));
}

void restoreState(
    const RecurrentMemory& memory, const NetworkInput& input, Size size, std::byte* state, cudaStream_t stream) {
    lumaGridKernel<<<SceneCut::kCells, kThreads, 0, stream>>>(InputColors(input), size, &memory.scene->now);
    judgeCutKernel<<<1, kThreads, 0, stream>>>(memory.scene);
    CUDA_CHECK(cudaGetLastError());
    copy(memory.state, &memory.scene->changed, state, memory.bytes, stream);
}

void keepState(const RecurrentMemory& memory, const std::byte* state, const int* nonFinite, cudaStream_t stream) {
    copy(state, nonFinite, memory.state, memory.bytes, stream);
}

}  // namespace matte::device
