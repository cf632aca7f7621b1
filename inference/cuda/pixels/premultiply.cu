// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/device/cuda.h"
#include "inference/cuda/pixels/premultiply.h"

namespace matte::device {
namespace {

constexpr int kThreads = 256;

__global__ void premultiplyKernel(const uchar4* rgba, uchar4* premultiplied, unsigned pixels) {
    const unsigned i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= pixels) return;
    const uchar4 pixel = rgba[i];
    const auto times = [alpha = unsigned(pixel.w)](unsigned char color) {
        return static_cast<unsigned char>((color * alpha + 127) / 255);
    };
    premultiplied[i] = make_uchar4(times(pixel.x), times(pixel.y), times(pixel.z), pixel.w);
}

}  // namespace

void premultiply(const std::byte* rgba, Size size, std::byte* premultiplied, cudaStream_t stream) {
    const auto pixels = static_cast<unsigned>(size.pixels());
    premultiplyKernel<<<(pixels + kThreads - 1) / kThreads, kThreads, 0, stream>>>(
        reinterpret_cast<const uchar4*>(rgba), reinterpret_cast<uchar4*>(premultiplied), pixels);
    CUDA_CHECK(cudaGetLastError());
}

}  // namespace matte::device
