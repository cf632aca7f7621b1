// SPDX-License-Identifier: Apache-2.0
// The loop of wgmma: both operands from shared memory, as the sm90 kernel multiplies.
#include "inference/cuda/device/device_rates.h"
#include "inference/cuda/device/ptx.cuh"
#include "inference/cuda/device/wgmma.cuh"

namespace matte {
namespace {

constexpr int kGroups = 2, kThreads = 128 * kGroups, kSteps = 1024;
constexpr int kRowBytes = 128, kRowsA = 64, kRowsB = 256, kDepth = 4;  // of 16 in a row of 64 halves
constexpr int kSharedBytes = (kGroups * kRowsA + kRowsB) * kRowBytes + 1024;

__global__ void __launch_bounds__(kThreads) wgmmaLoop(float* out) {
#if __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ std::uint8_t memory[];
    const std::uint32_t base = (ptx::sharedAddress(memory) + 1023) / 1024 * 1024;
    auto* words = reinterpret_cast<std::uint32_t*>(memory + (base - ptx::sharedAddress(memory)));
    for (int i = int(threadIdx.x); i < (kSharedBytes - 1024) / 4; i += kThreads) {
        const std::uint32_t bits = std::uint32_t(i) * 2654435761U;
        words[i] = (bits ^ bits >> 15) & 0x83FF83FF | 0x38003800;  // halves of 0.5 to 1, random signs
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    const std::uint32_t group = threadIdx.x / 128;
    const std::uint64_t a = ptx::wgmmaDescriptor(base + group * kRowsA * kRowBytes, 8 * kRowBytes, kRowBytes);
    const std::uint64_t b = ptx::wgmmaDescriptor(base + kGroups * kRowsA * kRowBytes, 8 * kRowBytes, kRowBytes);
    float sums[128] = {};
    for (int step = 0; step < kSteps; ++step) {
        ptx::wgmmaFence();
#pragma unroll
        for (int k = 0; k < kDepth; ++k) ptx::wgmma(sums, a + std::uint64_t(2 * k), b + std::uint64_t(2 * k));
        ptx::wgmmaCommit();
        ptx::wgmmaWait<0>();  // the other group multiplies meanwhile
    }
    float sum = 0;
    for (const float value : sums) sum += value;
    out[blockIdx.x * kThreads + threadIdx.x] = sum;
#endif
}

}  // namespace

double launchWgmmaLoop(int blocks, float* out, cudaStream_t stream) {
    CUDA_CHECK(cudaFuncSetAttribute(wgmmaLoop, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
    wgmmaLoop<<<unsigned(blocks), kThreads, kSharedBytes, stream>>>(out);
    return 2.0 * 64 * 256 * 16 * kDepth * kSteps * kGroups * blocks;
}

}  // namespace matte
