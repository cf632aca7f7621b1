// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/head.h"

#include <cuda_fp16.h>

#include <algorithm>

#include "inference/cuda/cuda.h"
#include "inference/cuda/ptx.cuh"

namespace matte {
namespace {

constexpr int kThreads = 256;

__device__ float dot8(uint4 halves, const float* weights) {
    const __half2* pairs = reinterpret_cast<const __half2*>(&halves);
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const float2 pair = __half22float2(pairs[i]);
        sum += pair.x * weights[2 * i] + pair.y * weights[2 * i + 1];
    }
    return sum;
}

/// `lanes` threads (1 to 32, a power of two) share a pixel, each reading 16 bytes at a time, so that a warp reads one
/// piece of memory.
__global__ void __launch_bounds__(kThreads) headKernel(
    const uint4* in, const float* weights, const float* bias, float* alpha, int pixels, int pieces, int lanes) {
    ptx::launchDependents();
    ptx::waitForPrevious();
    const int thread = int(blockIdx.x * kThreads + threadIdx.x);
    const int pixel = thread / lanes, lane = thread % lanes;
    float sum = 0;
    if (pixel < pixels) {
        for (int piece = lane; piece < pieces; piece += lanes) {
            sum += dot8(in[std::size_t(pixel) * pieces + piece], weights + piece * 8);
        }
    }
    for (int step = lanes / 2; step > 0; step /= 2) sum += __shfl_xor_sync(0xFFFFFFFF, sum, step);
    if (pixel < pixels && lane == 0) alpha[pixel] = 1.0F / (1.0F + expf(-(sum + bias[0])));
}

}  // namespace

void launchHead(const void* in,
                const float* weights,
                const float* bias,
                float* alpha,
                int pixels,
                int channels,
                cudaStream_t stream,
                bool overlap) {
    const int pieces = channels / 8;
    int lanes = 1;
    while (lanes * 2 <= std::min(pieces, 32)) lanes *= 2;
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(unsigned((std::size_t(pixels) * lanes + kThreads - 1) / kThreads));
    config.blockDim = dim3(kThreads);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = overlap ? 1 : 0;
    CUDA_CHECK(cudaLaunchKernelEx(&config, headKernel, static_cast<const uint4*>(in), weights, bias, alpha, pixels,
                                  pieces, lanes));
}

}  // namespace matte
