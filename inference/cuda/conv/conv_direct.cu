// SPDX-License-Identifier: Apache-2.0
// The convolutions that are computed as they are defined: depthwise ones, where no two channels meet, and the stem,
// where the three of the picture do. Their time is that of their loads. A thread makes 8 channels, 16 bytes of halves,
// of a few pixels beside each other: what it reads of a row serves all of its pixels, and a row of weights too.
#include "inference/cuda/conv/conv.h"
#include "inference/cuda/device/ptx.cuh"

namespace matte {
namespace {

constexpr int kThreads = 128, kPiece = 8;
constexpr int kRun = 4;  // pixels of a thread

struct DirectArgs {
    const void* in;
    void* out;
    const void* weights;
    const float* bias;
    int height, width;  // of the input
    int outHeight, outWidth;
    int inChannels, pieces;  // padded channels; pieces of the output's
    int runs;                // of an output row
    int threads;             // that have something to do
};

__device__ void unpack8(float (&values)[kPiece], uint4 halves) {
    const __half2* pairs = reinterpret_cast<const __half2*>(&halves);
#pragma unroll
    for (int i = 0; i < kPiece / 2; ++i) {
        const float2 two = __half22float2(pairs[i]);
        values[2 * i] = two.x;
        values[2 * i + 1] = two.y;
    }
}

__device__ void unpack8(float (&values)[kPiece], float4 low, float4 high) {
    const float floats[kPiece] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
    for (int i = 0; i < kPiece; ++i) values[i] = floats[i];
}

/// Activations come by ordinary loads: what the kernel before this one wrote may not be read as constant.
__device__ void load8(float (&values)[kPiece], const __half* from) {
    unpack8(values, *reinterpret_cast<const uint4*>(from));
}
__device__ void load8(float (&values)[kPiece], const float* from) {
    const float4* const fours = reinterpret_cast<const float4*>(from);
    unpack8(values, fours[0], fours[1]);
}

__device__ void loadConstant8(float (&values)[kPiece], const __half* from) {
    unpack8(values, __ldg(reinterpret_cast<const uint4*>(from)));
}
__device__ void loadConstant8(float (&values)[kPiece], const float* from) {
    const float4* const fours = reinterpret_cast<const float4*>(from);
    unpack8(values, __ldg(fours), __ldg(fours + 1));
}

__device__ void store8(__half* to, const float (&values)[kPiece]) {
    uint4 halves;
    __half2* const pairs = reinterpret_cast<__half2*>(&halves);
#pragma unroll
    for (int i = 0; i < kPiece / 2; ++i) pairs[i] = __floats2half2_rn(values[2 * i], values[2 * i + 1]);
    *reinterpret_cast<uint4*>(to) = halves;
}
__device__ void store8(float* to, const float (&values)[kPiece]) {
    float4* const fours = reinterpret_cast<float4*>(to);
    fours[0] = make_float4(values[0], values[1], values[2], values[3]);
    fours[1] = make_float4(values[4], values[5], values[6], values[7]);
}

/// Where a thread's pixels lie: from (x, y) of the output, all of the same 8 channels.
struct Place {
    int piece, x, y, batch;
    __device__ Place(const DirectArgs& args, int thread) {
        piece = thread % args.pieces;  // neighbours read and write one stretch of memory
        thread /= args.pieces;
        x = thread % args.runs * kRun;
        thread /= args.runs;
        y = thread % args.outHeight;
        batch = thread / args.outHeight;
    }
};

/// Adds the products of one row of the filter. `row`: the input's, at the channels that are read; `weights`: the
/// filter's, at the thread's channels; `firstX`: of the first pixel's window.
template <typename T, int side, int stride, int depth>
__device__ void addRow(
    float (&sums)[kRun][kPiece], const DirectArgs& args, const T* row, const T* weights, int firstX) {
    float filter[side][depth][kPiece];
#pragma unroll
    for (int i = 0; i < side * depth; ++i) {
        loadConstant8(filter[i / depth][i % depth], weights + i * args.pieces * kPiece);
    }
#pragma unroll
    for (int column = 0; column < (kRun - 1) * stride + side; ++column) {
        const int x = firstX + column;
        float values[kPiece] = {};
        if (x >= 0 && x < args.width) load8(values, row + std::size_t(x) * args.inChannels);
#pragma unroll
        for (int i = 0; i < kRun; ++i) {
            const int kx = column - i * stride;
            if (kx < 0 || kx >= side) continue;
#pragma unroll
            for (int in = 0; in < depth; ++in) {
#pragma unroll
                for (int c = 0; c < kPiece; ++c) {
                    sums[i][c] = fmaf(values[depth == 1 ? c : in], filter[kx][in][c], sums[i][c]);
                }
            }
        }
    }
}

/// `depth`: input channels that each output channel reads: 1 of a depthwise layer, its own, or the first 3 of the
/// stem's.
template <typename T, int side, int stride, int depth>
__global__ void __launch_bounds__(kThreads) directKernel(const __grid_constant__ DirectArgs args) {
    ptx::launchDependents();
    ptx::waitForPrevious();
    const int thread = int(blockIdx.x * kThreads + threadIdx.x);
    if (thread >= args.threads) return;
    const Place at(args, thread);
    const int firstChannel = depth == 1 ? at.piece * kPiece : 0;
    const T* const image =
        static_cast<const T*>(args.in) + std::size_t(at.batch) * args.height * args.width * args.inChannels;
    const T* const weights = static_cast<const T*>(args.weights) + at.piece * kPiece;
    float sums[kRun][kPiece];
#pragma unroll
    for (int i = 0; i < kRun * kPiece; ++i) {
        sums[i / kPiece][i % kPiece] = __ldg(args.bias + at.piece * kPiece + i % kPiece);
    }
#pragma unroll 1
    for (int ky = 0; ky < side; ++ky) {
        const int y = at.y * stride + ky - side / 2;
        if (y < 0 || y >= args.height) continue;
        addRow<T, side, stride, depth>(sums, args, image + std::size_t(y) * args.width * args.inChannels + firstChannel,
                                       weights + ky * side * depth * args.pieces * kPiece, at.x * stride - side / 2);
    }
    const std::size_t line = std::size_t(at.batch) * args.outHeight + at.y;
    T* const out = static_cast<T*>(args.out) + ((line * args.outWidth + at.x) * args.pieces + at.piece) * kPiece;
#pragma unroll
    for (int i = 0; i < kRun; ++i) {
        if (at.x + i >= args.outWidth) break;
#pragma unroll
        for (int c = 0; c < kPiece; ++c) sums[i][c] = fmaxf(sums[i][c], 0.0F);
        store8(out + std::size_t(i) * args.pieces * kPiece, sums[i]);
    }
}

using Kernel = void (*)(DirectArgs);

template <typename T>
Kernel kernelFor(const ConvShape& shape) {
    if (shape.kind != ConvKind::depthwise) return directKernel<T, 3, 2, 3>;
    if (shape.stride == 2) return shape.side == 5 ? directKernel<T, 5, 2, 1> : directKernel<T, 3, 2, 1>;
    return shape.side == 5 ? directKernel<T, 5, 1, 1> : directKernel<T, 3, 1, 1>;
}

}  // namespace

ConvLaunch::Call prepareDirect(const ConvShape& shape,
                               const ConvConfig& config,
                               const ConvBuffers& buffers,
                               const DeviceFacts& device) {
    DirectArgs args{};
    args.in = buffers.in0;
    args.out = buffers.out;
    args.weights = buffers.weights;
    args.bias = buffers.bias;
    args.height = shape.height;
    args.width = shape.width;
    args.outHeight = shape.outHeight();
    args.outWidth = shape.outWidth();
    args.inChannels = paddedChannels(shape.in0Channels);
    args.pieces = paddedChannels(shape.outChannels) / kPiece;
    args.runs = ceilDiv(args.outWidth, kRun);
    args.threads = shape.batch * args.outHeight * args.runs * args.pieces;
    const Kernel kernel = config.kernel == ConvKernel::fp32 ? kernelFor<float>(shape) : kernelFor<__half>(shape);
    return {.kernel = reinterpret_cast<const void*>(kernel),
            .threads = kThreads,
            .argument = std::make_shared<DirectArgs>(args),
            .blocks = ceilDiv(args.threads, kThreads),
            .canOverlap = device.major >= 9};
}

}  // namespace matte
