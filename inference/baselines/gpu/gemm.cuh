// SPDX-License-Identifier: Apache-2.0
// Our matrix product, C = A B in single precision, for the baselines that turn a convolution into one. A block of 128
// threads owns 64 rows by 128 columns of C; each thread 8 by 8 of them, in registers. Slices of 16 of the depth pass
// through shared memory, two buffers in turn: while one is multiplied, the next is on its way in registers.
//
//            128 columns (pixels)
//           ┌────────────────────────┐
//     64    │ a thread: rows 4r … 4r+3 and 32 further,   16 reads of shared memory
//     rows  │ columns 4c … 4c+3 and 64 further           for 64 multiply-adds
//           └────────────────────────┘
#pragma once

#include "inference/baselines/gpu/gpu.h"

namespace matte::baselines {

/// A [rows, depth] and B [depth, columns], row-major, `batch` of each; C's column q is pixel q % pixels of image
/// q / pixels.
struct Product {
    const float *a, *b;
    float* c;
    int rows, columns, depth;
    int pitchB;                             ///< floats from a row of B to the next
    std::size_t strideA, strideB, strideC;  ///< from one product of the batch to the next
    int firstColumn, pixels;                ///< of C, where the first column stands
    std::size_t rowFloats, imageFloats;     ///< of C, from one row, one image to the next
    const float* bias;                      ///< one for each row; null: none
    bool relu;
};

namespace gemm {

constexpr int kRows = 64, kColumns = 128, kDepth = 16, kThreads = 128;

struct Slices {
    float a[kDepth][kRows + 4];
    float b[kDepth][kColumns];
};

/// A thread's share of the next slice: 8 values of A down a row's depth, 16 of B along the rows.
struct Staged {
    float a[8], b[16];

    __device__ void fetch(const Product& p, const float* a0, const float* b0, int row0, int column0, int k0) {
        const int row = row0 + int(threadIdx.x) / 2, k = k0 + int(threadIdx.x) % 2 * 8;
        for (int i = 0; i < 8; ++i) {
            a[i] = row < p.rows && k + i < p.depth ? a0[std::size_t(row) * p.depth + k + i] : 0.0F;
        }
        const int column = column0 + int(threadIdx.x);
        for (int i = 0; i < 16; ++i) {
            b[i] = column < p.columns && k0 + i < p.depth ? b0[std::size_t(k0 + i) * p.pitchB + column] : 0.0F;
        }
    }
    __device__ void store(Slices& to) const {
        const int row = int(threadIdx.x) / 2, k = int(threadIdx.x) % 2 * 8;
        for (int i = 0; i < 8; ++i) to.a[k + i][row] = a[i];
        for (int i = 0; i < 16; ++i) to.b[i][threadIdx.x] = b[i];
    }
};

__device__ inline void read4(float* to, const float* from) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}

static __global__ void __launch_bounds__(kThreads, 4) productKernel(const __grid_constant__ Product p) {
    __shared__ __align__(16) Slices slices[2];
    const int row0 = blockIdx.y * kRows, column0 = blockIdx.x * kColumns;
    const float* a = p.a + blockIdx.z * p.strideA;
    const float* b = p.b + blockIdx.z * p.strideB;
    const int r = int(threadIdx.x) / 16 * 4, c = int(threadIdx.x) % 16 * 4;
    float sums[8][8] = {};
    Staged staged;
    staged.fetch(p, a, b, row0, column0, 0);
    for (int k0 = 0, turn = 0; k0 < p.depth; k0 += kDepth, turn ^= 1) {
        staged.store(slices[turn]);
        __syncthreads();  // also: everyone has left the slice before last, which the next turn overwrites
        if (k0 + kDepth < p.depth) staged.fetch(p, a, b, row0, column0, k0 + kDepth);
        const Slices& slice = slices[turn];
#pragma unroll
        for (int k = 0; k < kDepth; ++k) {
            float left[8], right[8];
            read4(left, &slice.a[k][r]);
            read4(left + 4, &slice.a[k][r + 32]);
            read4(right, &slice.b[k][c]);
            read4(right + 4, &slice.b[k][c + 64]);
#pragma unroll
            for (int i = 0; i < 8; ++i) {
#pragma unroll
                for (int j = 0; j < 8; ++j) sums[i][j] = fmaf(left[i], right[j], sums[i][j]);
            }
        }
    }
#pragma unroll
    for (int j = 0; j < 8; ++j) {
        const int column = column0 + c + j / 4 * 64 + j % 4, q = p.firstColumn + column;
        if (column >= p.columns) continue;
        float* to = p.c + blockIdx.z * p.strideC + q / p.pixels * p.imageFloats + q % p.pixels;
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            const int row = row0 + r + i / 4 * 32 + i % 4;
            if (row >= p.rows) continue;
            const float value = sums[i][j] + (p.bias ? p.bias[row] : 0.0F);
            to[row * p.rowFloats] = p.relu ? fmaxf(value, 0.0F) : value;
        }
    }
}

}  // namespace gemm

inline void launchProduct(const Product& product, int batch, cudaStream_t stream) {
    const dim3 grid(blocksFor(std::size_t(product.columns), gemm::kColumns),
                    blocksFor(std::size_t(product.rows), gemm::kRows), unsigned(batch));
    gemm::productKernel<<<grid, gemm::kThreads, 0, stream>>>(product);
    CUDA_CHECK(cudaGetLastError());
}

}  // namespace matte::baselines
