// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/conv/head.h"

#include <algorithm>
#include <type_traits>

#include "inference/cuda/conv/head.cuh"
#include "inference/cuda/device/cuda.h"
#include "inference/cuda/device/ptx.cuh"

namespace matte {
namespace {

constexpr int kThreads = 256;

__device__ float dotPiece(uint4 halves, const float* weights) {
    return dot8(halves, weights);
}

__device__ float dotPiece(float4 floats, const float* weights) {
    return floats.x * weights[0] + floats.y * weights[1] + floats.z * weights[2] + floats.w * weights[3];
}

/// `lanes` threads (1 to 32, a power of two) share a pixel, each reading a piece of 16 bytes at a time, so that a warp
/// reads one stretch of memory.
template <typename Piece>
__global__ void __launch_bounds__(kThreads)
    headKernel(const Piece* in, Head head, int pixels, int channels, int lanes) {
    constexpr int kPiece = std::is_same_v<Piece, float4> ? 4 : 8;  // channels
    ptx::launchDependents();
    ptx::waitForPrevious();
    const int thread = int(blockIdx.x * kThreads + threadIdx.x);
    const int pixel = thread / lanes, lane = thread % lanes, pieces = channels / kPiece;
    float sum = 0;
    if (pixel < pixels) {
        for (int piece = lane; piece < pieces; piece += lanes) {
            sum += dotPiece(in[std::size_t(pixel) * pieces + piece], head.weights + piece * kPiece);
        }
    }
    for (int step = lanes / 2; step > 0; step /= 2) sum += __shfl_xor_sync(0xFFFFFFFF, sum, step);
    if (pixel < pixels && lane == 0) head.alpha[pixel] = sigmoid(sum + *head.bias);
}

}  // namespace

void launchHead(
    const void* in, bool inFloats, const Head& head, int pixels, int channels, cudaStream_t stream, bool overlap) {
    const int pieces = channels / (inFloats ? 4 : 8);
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
    if (inFloats) {
        CUDA_CHECK(cudaLaunchKernelEx(&config, headKernel<float4>, static_cast<const float4*>(in), head, pixels,
                                      channels, lanes));
    } else {
        CUDA_CHECK(cudaLaunchKernelEx(&config, headKernel<uint4>, static_cast<const uint4*>(in), head, pixels, channels,
                                      lanes));
    }
}

}  // namespace matte
