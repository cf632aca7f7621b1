// SPDX-License-Identifier: Apache-2.0
// Two kernels: one counts, in whole numbers, whose sums are the same in any order; one thread judges.
#include "inference/cuda/pixels/matte_guard.h"
#include "inference/cuda/pixels/network_input.cuh"

namespace matte::device {
namespace {

constexpr int kThreads = 256;
constexpr int kBelowZero = 0xbf;  // four such bytes are the float -1.5

__global__ void __launch_bounds__(kThreads)
    measureKernel(const float* matte, InputColors colors, unsigned pixels, GuardMemory memory) {
    const unsigned i = blockIdx.x * kThreads + threadIdx.x;
    float alpha = 0;
    unsigned change = 0;
    if (i < pixels) {
        alpha = matte[i];
        const float3 now = colors(i);
        const float4 then = memory.before[i];
        if (then.x > kForgotten) {
            change = MatteGuard::steps(now.x - then.x) + MatteGuard::steps(now.y - then.y) +
                     MatteGuard::steps(now.z - then.z);
        }
        memory.before[i] = {now.x, now.y, now.z, 0};
    }
    const unsigned inWarp = __reduce_add_sync(~0U, change);
    if (threadIdx.x % 32 == 0 && inWarp > 0) {
        atomicAdd(&memory.state->change, static_cast<unsigned long long>(inWarp));
    }
    const int covered = __syncthreads_count(alpha > kSomebody), notFinite = __syncthreads_count(!isfinite(alpha));
    if (threadIdx.x > 0) return;
    if (covered > 0) atomicAdd(&memory.state->covered, unsigned(covered));
    if (notFinite > 0) atomicAdd(&memory.state->notFinite, unsigned(notFinite));
}

__global__ void judgeKernel(unsigned pixels, GuardMemory::State* state, NonFiniteFlag nonFinite) {
    const float covered = float(state->covered) / float(pixels);
    const MatteFault fault =
        state->guard.judge(state->notFinite == 0, covered, MatteGuard::meanOf(state->change, 3ULL * pixels));
    state->covered = state->notFinite = 0;
    state->change = 0;
    if (fault == MatteFault::none) return;
    if (nonFinite.onDevice) *nonFinite.onDevice = int(fault);
    if (nonFinite.onHost) *nonFinite.onHost = int(fault);
}

}  // namespace

void resetCoverage(const GuardMemory& memory, cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(memory.state, 0, sizeof(GuardMemory::State), stream));
}

void resetPicture(const GuardMemory& memory, cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(memory.before, kBelowZero, memory.size.pixels() * sizeof(float4), stream));
}

void guardMatte(const float* matte,
                const NetworkInput& input,
                const GuardMemory& memory,
                const NonFiniteFlag& nonFinite,
                cudaStream_t stream) {
    const auto pixels = unsigned(memory.size.pixels());
    measureKernel<<<(pixels + kThreads - 1) / kThreads, kThreads, 0, stream>>>(matte, InputColors(input), pixels,
                                                                               memory);
    judgeKernel<<<1, 1, 0, stream>>>(pixels, memory.state, nonFinite);
    CUDA_CHECK(cudaGetLastError());
}

}  // namespace matte::device
