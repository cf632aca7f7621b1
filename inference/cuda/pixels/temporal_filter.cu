// SPDX-License-Identifier: Apache-2.0
// Two kernels: the blurred colours and what moved, by tiles in shared memory; then each pixel follows, knowing its
// neighbours' motion.
#include <algorithm>

#include "inference/cuda/pixels/network_input.cuh"
#include "inference/cuda/pixels/pixels_vector.cuh"
#include "inference/cuda/pixels/temporal_filter.h"

namespace matte::device {
namespace {

constexpr int kTileWidth = kBlockWidth + 2 * kMotionBlurRadius, kTileHeight = kBlockHeight + 2 * kMotionBlurRadius;

__device__ void addScaled(float3& sum, float weight, float3 value) {
    sum = {fmaf(weight, value.x, sum.x), fmaf(weight, value.y, sum.y), fmaf(weight, value.z, sum.z)};
}

__global__ void __launch_bounds__(kBlockWidth* kBlockHeight)
    motionKernel(InputColors colors, int width, int height, const float4* reference, TemporalScratch scratch) {
    __shared__ float3 seen[kTileHeight][kTileWidth], across[kTileHeight][kBlockWidth];
    const int left = int(blockIdx.x) * kBlockWidth, top = int(blockIdx.y) * kBlockHeight;
    const int thread = int(threadIdx.y) * kBlockWidth + int(threadIdx.x);
    for (int i = thread; i < kTileWidth * kTileHeight; i += kBlockWidth * kBlockHeight) {
        const int x = min(max(left + i % kTileWidth - kMotionBlurRadius, 0), width - 1);
        const int y = min(max(top + i / kTileWidth - kMotionBlurRadius, 0), height - 1);
        seen[i / kTileWidth][i % kTileWidth] = colors(std::size_t(y) * width + x);
    }
    __syncthreads();
    for (int row = int(threadIdx.y); row < kTileHeight; row += kBlockHeight) {
        float3 sum{};
#pragma unroll
        for (int d = -kMotionBlurRadius; d <= kMotionBlurRadius; ++d) {
            addScaled(sum, motionBlurWeight(abs(d)), seen[row][int(threadIdx.x) + kMotionBlurRadius + d]);
        }
        across[row][threadIdx.x] = sum;
    }
    __syncthreads();
    float3 sum{};
#pragma unroll
    for (int d = -kMotionBlurRadius; d <= kMotionBlurRadius; ++d) {
        addScaled(sum, motionBlurWeight(abs(d)), across[int(threadIdx.y) + kMotionBlurRadius + d][threadIdx.x]);
    }
    const int x = left + int(threadIdx.x), y = top + int(threadIdx.y);
    float motion = 0;
    if (x < width && y < height) {
        const std::size_t i = std::size_t(y) * width + x;
        const float4 before = reference[i];
        const float now[3] = {sum.x, sum.y, sum.z}, then[3] = {before.x, before.y, before.z};
        motion = motionOf(now, then);
        scratch.colors[i] = {sum.x, sum.y, sum.z, 0};
        scratch.motion[i] = motion;
    }
    const int moved = __syncthreads_count(motion > kCutMotion);
    if (thread == 0 && moved > 0) atomicAdd(scratch.moved, unsigned(moved));
}

__global__ void __launch_bounds__(kBlockWidth* kBlockHeight) followKernel(const float* matte,
                                                                          const ResolvedParams* params,
                                                                          const int* nonFinite,
                                                                          TemporalMemory memory,
                                                                          TemporalScratch scratch,
                                                                          float* out) {
    const auto [width, height] = memory.size;
    const int x = int(blockIdx.x) * kBlockWidth + int(threadIdx.x);
    const int y = int(blockIdx.y) * kBlockHeight + int(threadIdx.y);
    if (x >= width || y >= height) return;
    const std::size_t i = std::size_t(y) * width + x;
    const float wanted = matte[i];
    if (nonFinite && *nonFinite != 0) {
        memory.reference[i].x = kForgotten;
        memory.kept[i] = 0;
        out[i] = wanted;
        return;
    }
    float motion = 0;
    for (int j = max(y - kMotionReach, 0); j <= min(y + kMotionReach, height - 1); ++j) {
        for (int k = max(x - kMotionReach, 0); k <= min(x + kMotionReach, width - 1); ++k) {
            motion = fmaxf(motion, scratch.motion[std::size_t(j) * width + k]);
        }
    }
    if (float(*scratch.moved) > kCutShare * float(width * height)) motion = 1;
    const float before = memory.alpha[i], rate = followRate(motion, wanted - before, params->temporalSmoothing);
    const float4 now = scratch.colors[i], then = memory.reference[i];
    memory.reference[i] = {follow(then.x, now.x, rate), follow(then.y, now.y, rate), follow(then.z, now.z, rate), 0};
    out[i] = memory.alpha[i] = fadeOut(follow(before, wanted, rate), wanted);
}

}  // namespace

TemporalMemory::TemporalMemory(Partition& parts, Size s)
    : size(s),
      alpha(parts.take<float>(s.pixels())),
      reference(parts.take<float4>(s.pixels())),
      kept(parts.take<unsigned char>(s.pixels())) {}

TemporalScratch::TemporalScratch(Partition& parts, Size size)
    : colors(parts.take<float4>(size.pixels())),
      motion(parts.take<float>(size.pixels())),
      moved(parts.take<unsigned>(1)) {}

void reset(const TemporalMemory& memory, cudaStream_t stream) {
    const std::size_t pixels = memory.size.pixels();
    constexpr int kBelowZero = 0xbf;  // four such bytes are the float -1.5
    CUDA_CHECK(cudaMemsetAsync(memory.alpha, 0, pixels * sizeof(float), stream));
    CUDA_CHECK(cudaMemsetAsync(memory.reference, kBelowZero, pixels * sizeof(float4), stream));
    CUDA_CHECK(cudaMemsetAsync(memory.kept, 0, pixels, stream));
}

void applyTemporalFilter(const float* matte,
                         const NetworkInput& input,
                         const ResolvedParams* params,
                         const int* nonFinite,
                         const TemporalMemory& memory,
                         const TemporalScratch& scratch,
                         float* out,
                         cudaStream_t stream) {
    const auto [width, height] = memory.size;
    const dim3 block(kBlockWidth, kBlockHeight);
    const dim3 grid = blocksFor(memory.size);
    CUDA_CHECK(cudaMemsetAsync(scratch.moved, 0, sizeof(unsigned), stream));
    motionKernel<<<grid, block, 0, stream>>>(InputColors(input), width, height, memory.reference, scratch);
    followKernel<<<grid, block, 0, stream>>>(matte, params, nonFinite, memory, scratch, out);
    CUDA_CHECK(cudaGetLastError());
}

}  // namespace matte::device
