// SPDX-License-Identifier: Apache-2.0
// Baseline 5 of the GPU: im2col and a matrix product. One kernel writes the nine neighbours of each pixel one below the
// other, as a column; the convolution is then weights [out, 9 in] times columns [9 in, pixels], and the product adds
// the folded bias and cuts off at zero as it writes. A value of the input is written nine times and read nine times, so
// the columns are made in strips that take at most kWorkspace floats.
#include <algorithm>

#include "inference/baselines/gpu/gemm.cuh"

namespace matte::baselines {
namespace {

constexpr int kThreads = 128;
constexpr std::size_t kWorkspace = std::size_t(64) << 20;  // floats: 256 MiB

/// A thread writes the nine values of one pixel and one channel. Column q stands for pixel first + q of all images.
__global__ void columnsKernel(
    const float* in, float* columns, int channels, int height, int width, int first, int count, int pitch) {
    const int q = int(blockIdx.x) * kThreads + int(threadIdx.x), channel = int(blockIdx.y);
    if (q >= count) return;
    const int pixels = height * width, image = (first + q) / pixels, pixel = (first + q) % pixels;
    const int y = pixel / width, x = pixel % width;
    const float* plane = in + (std::size_t(image) * channels + channel) * pixels;
    float* to = columns + std::size_t(channel) * 9 * pitch + q;
    for (int tap = 0; tap < 9; ++tap) {
        const int row = y + tap / 3 - 1, column = x + tap % 3 - 1;
        const bool inside = row >= 0 && row < height && column >= 0 && column < width;
        to[std::size_t(tap) * pitch] = inside ? plane[std::size_t(row) * width + column] : 0.0F;
    }
}

class Im2col final : public Layer {
public:
    Im2col(const Block& block, const Shape& shape) : shape_(shape), relu_(block.relu) {
        const Filter filter = folded(block);
        outChannels_ = filter.outChannels;
        weights_ = uploaded(filter.weights);
        bias_ = uploaded(filter.bias);
        const std::size_t all = shape.pixels() * std::size_t(shape.batch), depth = std::size_t(shape.channels) * 9;
        pitch_ = int(std::min(all, std::max(kWorkspace / depth / gemm::kColumns, std::size_t(1)) * gemm::kColumns));
        columns_ = DeviceBuffer(depth * std::size_t(pitch_) * sizeof(float));
    }

    void run(int, const float* in, float* out, StreamHandle stream) override {
        const int all = int(shape_.pixels()) * shape_.batch;
        Product product{};
        product.a = weights_.as<float>();
        product.b = columns_.as<float>();
        product.c = out;
        product.rows = outChannels_;
        product.depth = shape_.channels * 9;
        product.pitchB = pitch_;
        product.pixels = int(shape_.pixels());
        product.rowFloats = shape_.pixels();
        product.imageFloats = shape_.pixels() * std::size_t(outChannels_);
        product.bias = bias_.as<float>();
        product.relu = relu_;
        for (int first = 0; first < all; first += pitch_) {
            product.firstColumn = first;
            product.columns = std::min(pitch_, all - first);
            const dim3 grid(blocksFor(std::size_t(product.columns), kThreads), unsigned(shape_.channels));
            columnsKernel<<<grid, kThreads, 0, stream>>>(in, columns_.as<float>(), shape_.channels, shape_.height,
                                                         shape_.width, first, product.columns, pitch_);
            CUDA_CHECK(cudaGetLastError());
            launchProduct(product, 1, stream);
        }
    }

private:
    Shape shape_;
    bool relu_;
    int outChannels_ = 0, pitch_ = 0;
    DeviceBuffer weights_, bias_, columns_;
};

}  // namespace

std::unique_ptr<Layer> makeIm2col(const Block& block, const Shape& in) {
    return std::make_unique<Im2col>(block, in);
}

}  // namespace matte::baselines
