// SPDX-License-Identifier: Apache-2.0
// The 3x3 stencil on the GPU, twice: one thread a pixel in blocks of 32x32, as in the course, and one thread eight
// pixels below each other, which keeps three rows of three values in registers and reads one new row a pixel. The
// filter travels in the kernel's arguments, where every thread reads it from the constant cache.
#include "inference/baselines/baselines.h"
#include "inference/baselines/gpu/gpu.h"

namespace matte::baselines {
namespace {

constexpr int kSide = 32, kRun = 8;

struct Args {
    const float* in;
    float* out;
    int height, width;
    float filter[9];

    __device__ float at(int y, int x) const {
        return y >= 0 && y < height && x >= 0 && x < width ? in[std::size_t(y) * width + x] : 0.0F;
    }
};

__global__ void pixelKernel(const __grid_constant__ Args args) {
    const int x = blockIdx.x * kSide + threadIdx.x, y = blockIdx.y * kSide + threadIdx.y;
    if (x >= args.width || y >= args.height) return;
    float sum = 0;
#pragma unroll
    for (int tap = 0; tap < 9; ++tap) sum = fmaf(args.filter[tap], args.at(y + tap / 3 - 1, x + tap % 3 - 1), sum);
    args.out[std::size_t(y) * args.width + x] = sum;
}

__global__ void columnKernel(const __grid_constant__ Args args) {
    const int x = blockIdx.x * kSide + threadIdx.x, first = (blockIdx.y * 4 + threadIdx.y) * kRun;
    if (x >= args.width) return;
    float rows[kRun + 2][3];
#pragma unroll
    for (int i = 0; i < kRun + 2; ++i) {
        for (int kx = 0; kx < 3; ++kx) rows[i][kx] = args.at(first + i - 1, x + kx - 1);
    }
#pragma unroll
    for (int i = 0; i < kRun; ++i) {
        float sum = 0;
        for (int tap = 0; tap < 9; ++tap) sum = fmaf(args.filter[tap], rows[i + tap / 3][tap % 3], sum);
        if (first + i < args.height) args.out[std::size_t(first + i) * args.width + x] = sum;
    }
}

std::unique_ptr<Layer> make(const Filter3x3& filter, const Shape& in, bool columns) {
    return layerOf([filter, in, columns](const float* from, float* to, StreamHandle stream) {
        Args args{from, to, in.height, in.width, {}};
        for (int i = 0; i < 9; ++i) args.filter[i] = filter[std::size_t(i)];
        const unsigned across = blocksFor(std::size_t(in.width), kSide);
        if (columns) {
            const dim3 grid(across, blocksFor(std::size_t(in.height), 4 * kRun));
            columnKernel<<<grid, dim3(kSide, 4), 0, stream>>>(args);
        } else {
            const dim3 grid(across, blocksFor(std::size_t(in.height), kSide));
            pixelKernel<<<grid, dim3(kSide, kSide), 0, stream>>>(args);
        }
        CUDA_CHECK(cudaGetLastError());
    });
}

}  // namespace

std::unique_ptr<Layer> makeStencilGpu(const Filter3x3& filter, const Shape& in) {
    return make(filter, in, false);
}

std::unique_ptr<Layer> makeStencilColumns(const Filter3x3& filter, const Shape& in) {
    return make(filter, in, true);
}

}  // namespace matte::baselines
