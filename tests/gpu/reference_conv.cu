// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/reference_conv.h"

namespace matte::test {
namespace {

struct Args {
    ConvShape shape;
    const float* in[2];
    const float* weights;
    const float* bias;
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

__global__ void referenceKernel(Args args, int height, int width) {
    const ConvShape& s = args.shape;
    const std::size_t index = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index >= std::size_t(s.batch) * height * width * s.outChannels) return;
    const int o = int(index % s.outChannels), x = int(index / s.outChannels % width);
    const int y = int(index / s.outChannels / width % height), n = int(index / s.outChannels / width / height);
    const int inputs = s.in0Channels + s.in1Channels;
    double sum = args.bias[o];
    for (int i = 0; i < inputs; ++i) {
        if (s.kind == ConvKind::up2x2) {
            sum += inputAt(args, n, y / 2, x / 2, i) * args.weights[((o * inputs + i) * 2 + y % 2) * 2 + x % 2];
        } else {
            for (int tap = 0; tap < 9; ++tap) {
                sum += inputAt(args, n, y + tap / 3 - 1, x + tap % 3 - 1, i) * args.weights[(o * inputs + i) * 9 + tap];
            }
        }
    }
    args.out[index] = float(s.kind == ConvKind::conv3x3 && sum < 0 ? 0 : sum);
}

}  // namespace

void referenceConv(
    const ConvShape& shape, const float* in0, const float* in1, const float* weights, const float* bias, float* out) {
    const int scale = shape.kind == ConvKind::up2x2 ? 2 : 1;
    const int height = shape.height * scale, width = shape.width * scale;
    const std::size_t count = std::size_t(shape.batch) * height * width * shape.outChannels;
    referenceKernel<<<unsigned((count + 255) / 256), 256>>>({shape, {in0, in1}, weights, bias, out}, height, width);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());
}

}  // namespace matte::test
