// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <type_traits>

#include "inference/cuda/conv/conv.h"
#include "inference/cuda/conv/head.cuh"
#include "inference/cuda/device/ptx.cuh"

namespace matte {
namespace {

constexpr int kThreads = 256;

struct HeadArgs {
    const void* in;
    Head head;
    int pixels, channels;
    int lanes;  // threads (1 to 32, a power of two) that share a pixel
};

__device__ float dotPiece(uint4 halves, const float* weights) {
    return dot8(halves, weights);
}

__device__ float dotPiece(float4 floats, const float* weights) {
    return floats.x * weights[0] + floats.y * weights[1] + floats.z * weights[2] + floats.w * weights[3];
}

/// Each thread reads a piece of 16 bytes at a time, so that a warp reads one stretch of memory.
template <typename Piece>
__global__ void __launch_bounds__(kThreads) headKernel(const __grid_constant__ HeadArgs args) {
    constexpr int kPiece = std::is_same_v<Piece, float4> ? 4 : 8;  // channels
    const auto* const in = static_cast<const Piece*>(args.in);
    const Head& head = args.head;
    const int pixels = args.pixels, lanes = args.lanes, pieces = args.channels / kPiece;
    ptx::launchDependents();
    ptx::waitForPrevious();
    const int thread = int(blockIdx.x * kThreads + threadIdx.x);
    const int pixel = thread / lanes, lane = thread % lanes;
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

ConvLaunch::Call prepareHead(
    const void* in, bool inFloats, const Head& head, int pixels, int channels, const DeviceFacts& device) {
    const int pieces = channels / (inFloats ? 4 : 8);
    int lanes = 1;
    while (lanes * 2 <= std::min(pieces, 32)) lanes *= 2;
    void (*const kernel)(HeadArgs) = inFloats ? headKernel<float4> : headKernel<uint4>;
    return {.kernel = reinterpret_cast<const void*>(kernel),
            .threads = kThreads,
            .argument = std::make_shared<HeadArgs>(HeadArgs{in, head, pixels, channels, lanes}),
            .blocks = int((std::size_t(pixels) * lanes + kThreads - 1) / kThreads),
            .canOverlap = device.major >= 9};
}

}  // namespace matte
