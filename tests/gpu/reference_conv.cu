// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/reference_conv.h"

namespace matte::test {
namespace {

struct Args {
    ConvShape shape;
    const float* in[2];
    const float* weights;
    const float* bias;
    const float* added;
    float* out;
};

__device__ double inputAt(const Args& args, int n, int y, int x, int channel) {
    const ConvShape& s = args.shape;
    if (y < 0 || y >= s.height || x < 0 || x >= s.width) return 0;
    const bool second = channel >= s.in0Channels;
    const int channels = second ? s.in1Channels : s.in0Channels;
    const std::size_t pixel = (std::size_t(n) * s.height + y) * s.width + x;
    return args.in[second][pixel * channels + (second ? channel - s.in0Channels : channel)];
}

/// The products of output channel `o` with input channel `in`, whose filter is `filter`.
__device__ double products(const Args& args, int n, int y, int x, int in, const float* filter, int side) {
    if (args.shape.kind == ConvKind::up2x2) return inputAt(args, n, y / 2, x / 2, in) * filter[y % 2 * 2 + x % 2];
    const int top = y * args.shape.stride - side / 2, left = x * args.shape.stride - side / 2;
    double sum = 0;
    for (int tap = 0; tap < side * side; ++tap) {
        sum += inputAt(args, n, top + tap / side, left + tap % side, in) * filter[tap];
    }
    return sum;
}

__global__ void referenceKernel(Args args, int side, int height, int width) {
    const ConvShape& s = args.shape;
    const std::size_t index = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index >= std::size_t(s.batch) * height * width * s.outChannels) return;
    const int o = int(index % s.outChannels), x = int(index / s.outChannels % width);
    const int y = int(index / s.outChannels / width % height), n = int(index / s.outChannels / width / height);
    const bool depthwise = s.kind == ConvKind::depthwise;
    const int inputs = depthwise ? 1 : s.in0Channels + s.in1Channels;
    double sum = args.bias[o];
    for (int i = 0; i < inputs; ++i) {
        sum += products(args, n, y, x, depthwise ? o : i, args.weights + (o * inputs + i) * side * side, side);
    }
    if (s.added) sum += args.added[index];
    const bool linear = s.kind == ConvKind::up2x2 || s.linear;
    args.out[index] = float(!linear && sum < 0 ? 0 : sum);
}

}  // namespace

int filterSide(const ConvShape& shape) {
    switch (shape.kind) {
        case ConvKind::up2x2: return 2;
        case ConvKind::pointwise: return 1;
        case ConvKind::depthwise: return shape.side;
        default: return 3;
    }
}

void referenceConv(const ConvShape& shape,
                   const float* in0,
                   const float* in1,
                   const float* weights,
                   const float* bias,
                   const float* added,
                   float* out) {
    const int height = shape.outHeight(), width = shape.outWidth();
    const std::size_t count = std::size_t(shape.batch) * height * width * shape.outChannels;
    referenceKernel<<<unsigned((count + 255) / 256), 256>>>({shape, {in0, in1}, weights, bias, added, out},
                                                            filterSide(shape), height, width);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());
}

}  // namespace matte::test
