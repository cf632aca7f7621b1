// SPDX-License-Identifier: Apache-2.0
// Box filters on the GPU: means over windows of side 2 radius + 1, clipped at the borders, by one kernel for rows and
// one for columns. The functors Load and Store produce a value and consume a mean, which fuses a filter's first and
// last steps. Values are planes of float4 [H, W].
#pragma once

#include <cuda_runtime.h>

#include "inference/cuda/pixels/pixels_vector.cuh"

namespace matte::device {

/// A radius known at launch, or read from device memory.
struct Radius {
    int fixed = 0;
    const int* onDevice = nullptr;
    __device__ int get() const { return onDevice ? *onDevice : fixed; }
};

/// Fixed-point prefix sums, so that the difference of two is exact for any row length: the scale fits a window's sum
/// into 32 bits, and overflow of the prefix sums cancels out. Values are clamped to ±2^rangeBits.
struct FixedPoint {
    float scale, limit;
    __device__ FixedPoint(int window, int rangeBits) {
        const int windowBits = window > 1 ? 32 - __clz(window - 1) : 0;
        scale = exp2f(float(30 - windowBits - rangeBits));
        limit = exp2f(float(rangeBits));
    }
    __device__ int of(float value) const { return __float2int_rn(fminf(fmaxf(value, -limit), limit) * scale); }
    __device__ int4 of(float4 v) const { return {of(v.x), of(v.y), of(v.z), of(v.w)}; }
};

/// Wrap around on overflow, which is undefined for signed integers.
__device__ inline int wrappingAdd(int a, int b) {
    return int(unsigned(a) + unsigned(b));
}
__device__ inline int wrappingSubtract(int a, int b) {
    return int(unsigned(a) - unsigned(b));
}
__device__ inline void add(int4& to, int4 other) {
    to = {wrappingAdd(to.x, other.x), wrappingAdd(to.y, other.y), wrappingAdd(to.z, other.z),
          wrappingAdd(to.w, other.w)};
}

/// Warp-wide inclusive prefix sum.
__device__ inline int4 inclusiveScan(int4 value, int lane) {
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const int4 before = {__shfl_up_sync(~0U, value.x, step), __shfl_up_sync(~0U, value.y, step),
                             __shfl_up_sync(~0U, value.z, step), __shfl_up_sync(~0U, value.w, step)};
        if (lane >= step) add(value, before);
    }
    return value;
}

/// One warp per row and plane: out[plane][y][x] = mean of load(x', y, plane) over the window around x. Needs (width +
/// 1) int4 of shared memory. Values are within ±2^Load::kRangeBits.
template <typename Load>
__global__ void __launch_bounds__(32) boxRowsKernel(Load load, int width, int height, Radius radius, float4* out) {
    extern __shared__ int4 prefix[];  // [x]: sum of all values left of x
    constexpr int kAhead = 4;         // loads in flight
    const int lane = int(threadIdx.x), y = int(blockIdx.x), plane = int(blockIdx.y);
    const int r = min(radius.get(), width);
    const FixedPoint fixed(2 * r + 1, Load::kRangeBits);
    int4 carry = {0, 0, 0, 0};
    if (lane == 0) prefix[0] = carry;
    for (int first = lane; first - lane < width; first += 32 * kAhead) {
        float4 values[kAhead];
#pragma unroll
        for (int i = 0; i < kAhead; ++i) {
            const int x = first + 32 * i;
            values[i] = x < width ? load(x, y, plane) : make_float4(0, 0, 0, 0);
        }
#pragma unroll
        for (int i = 0; i < kAhead; ++i) {
            const int x = first + 32 * i;
            int4 sum = inclusiveScan(fixed.of(values[i]), lane);
            add(sum, carry);
            if (x < width) prefix[x + 1] = sum;
            carry = {__shfl_sync(~0U, sum.x, 31), __shfl_sync(~0U, sum.y, 31), __shfl_sync(~0U, sum.z, 31),
                     __shfl_sync(~0U, sum.w, 31)};
        }
    }
    __syncwarp();
    float4* row = out + (std::size_t(plane) * height + y) * width;
    for (int x = lane; x < width; x += 32) {
        const int begin = max(x - r, 0), end = min(x + r + 1, width);
        const int4 from = prefix[begin], to = prefix[end];
        const float scale = 1.0F / (fixed.scale * float(end - begin));
        row[x] = {float(wrappingSubtract(to.x, from.x)) * scale, float(wrappingSubtract(to.y, from.y)) * scale,
                  float(wrappingSubtract(to.z, from.z)) * scale, float(wrappingSubtract(to.w, from.w)) * scale};
    }
}

/// One thread per column and kRun rows, with a sliding window: store(x, y, first plane, means of `planes` planes).
template <int planes, int kRun, typename Store>
__global__ void __launch_bounds__(128)
    boxColumnsKernel(const float4* in, int width, int height, Radius radius, Store store) {
    const int x = int(blockIdx.x * blockDim.x + threadIdx.x), top = int(blockIdx.y) * kRun;
    const int plane = int(blockIdx.z) * planes;
    if (x >= width) return;
    const int r = min(radius.get(), height);
    const std::size_t planeSize = std::size_t(width) * height;
    const float4* column = in + plane * planeSize + x;
    float4 sum[planes] = {};
    const auto accumulateRow = [&](int y, float sign) {
#pragma unroll
        for (int p = 0; p < planes; ++p) accumulate(sum[p], sign, column[p * planeSize + std::size_t(y) * width]);
    };
#pragma unroll 4
    for (int y = max(top - r, 0); y < min(top + r, height); ++y) accumulateRow(y, 1);
#pragma unroll 2
    for (int y = top; y < min(top + kRun, height); ++y) {
        const int enter = y + r, leave = y - r - 1;
        if (enter < height) accumulateRow(enter, 1);
        if (leave >= 0 && y > top) accumulateRow(leave, -1);
        const float scale = 1.0F / float(min(enter, height - 1) - max(y - r, 0) + 1);
        float4 mean[planes];
#pragma unroll
        for (int p = 0; p < planes; ++p) mean[p] = scaled(sum[p], scale);
        store(x, y, plane, mean);
    }
}

template <typename Load>
void boxRows(const Load& load, Size size, int planes, Radius radius, float4* out, cudaStream_t stream) {
    const std::size_t shared = (std::size_t(size.width) + 1) * sizeof(int4);
    boxRowsKernel<<<dim3(unsigned(size.height), unsigned(planes)), 32, shared, stream>>>(load, size.width, size.height,
                                                                                         radius, out);
    CUDA_CHECK(cudaGetLastError());
}

/// Filters `groups` groups of `planes` planes; a thread processes one group's planes together.
template <int planes, int kRun, typename Store>
void boxColumns(const float4* in, Size size, int groups, Radius radius, const Store& store, cudaStream_t stream) {
    constexpr int kThreads = 128;
    const dim3 grid(unsigned(size.width + kThreads - 1) / kThreads, unsigned(size.height + kRun - 1) / kRun,
                    unsigned(groups));
    boxColumnsKernel<planes, kRun><<<grid, kThreads, 0, stream>>>(in, size.width, size.height, radius, store);
    CUDA_CHECK(cudaGetLastError());
}

}  // namespace matte::device
