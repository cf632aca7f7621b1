// SPDX-License-Identifier: Apache-2.0
// The XNOR convolution on the GPU: the warp's vote makes 32 signs a word in one instruction; a thread then cuts its
// nine bits out of three rows of words, and one XOR, one inversion and one popcount stand for nine multiply-adds. What
// is left is K, the mean of nine absolute values, which needs the floats: the bytes of the stencil, and no fewer.
#include <cstdint>

#include "inference/baselines/baselines.h"
#include "inference/baselines/gpu/gpu.h"

namespace matte::baselines {
namespace {

constexpr int kThreads = 256;

/// Word w of row y holds the signs of pixels 32 w … 32 w + 31; a warp makes one.
__global__ void packKernel(const float* in, std::uint32_t* bits, int height, int width, int words) {
    const int x = int(blockIdx.x) * kThreads + int(threadIdx.x), y = int(blockIdx.y);
    const unsigned word = __ballot_sync(~0U, x < width && in[std::size_t(y) * width + x] > 0);
    if (threadIdx.x % 32 == 0 && x / 32 < words) bits[std::size_t(y) * words + x / 32] = word;
}

__global__ void scaleKernel(const float* in, float* scales, int height, int width) {
    const int x = int(blockIdx.x) * kThreads + int(threadIdx.x), y = int(blockIdx.y);
    if (x >= width) return;
    float sum = 0;
    for (int tap = 0; tap < 9; ++tap) sum += fabsf(in[std::size_t(y + tap / 3) * (width + 2) + x + tap % 3]);
    scales[std::size_t(y) * width + x] = sum / 9;
}

__global__ void matchKernel(
    const std::uint32_t* bits, const float* scales, float* out, unsigned filter, float scale, int width, int words) {
    const int x = int(blockIdx.x) * kThreads + int(threadIdx.x), y = int(blockIdx.y);
    if (x >= width) return;
    unsigned window = 0;
    for (int row = 0; row < 3; ++row) {
        const std::uint32_t* from = bits + std::size_t(y + row) * words + x / 32;
        window |= (__funnelshift_r(from[0], from[1], x % 32) & 7U) << (3 * row);
    }
    const int matches = __popc(~(window ^ filter) & 511U);
    const std::size_t at = std::size_t(y) * width + x;
    out[at] = float(2 * matches - 9) * scales[at] * scale;
}

class XnorGpu final : public Layer {
public:
    XnorGpu(const Filter3x3& filter, const Shape& in)
        : filter_(filter),
          height_(in.height - 2),
          width_(in.width - 2),
          words_(in.width / 32 + 2),
          bits_(std::size_t(words_) * in.height * sizeof(std::uint32_t)),
          scales_(std::size_t(height_) * width_ * sizeof(float)) {}

    [[nodiscard]] int steps() const override { return 3; }
    void run(int step, const float* in, float* out, StreamHandle stream) override {
        auto* bits = bits_.as<std::uint32_t>();
        const dim3 grid(blocksFor(std::size_t(width_), kThreads), unsigned(height_));
        if (step == 0) {
            // As many threads as there are bits in a row's words, the two to spare too: they become zero.
            const dim3 all(blocksFor(std::size_t(words_) * 32, kThreads), unsigned(height_ + 2));
            packKernel<<<all, kThreads, 0, stream>>>(in, bits, height_ + 2, width_ + 2, words_);
        } else if (step == 1) {
            scaleKernel<<<grid, kThreads, 0, stream>>>(in, scales_.as<float>(), height_, width_);
        } else {
            matchKernel<<<grid, kThreads, 0, stream>>>(bits, scales_.as<float>(), out, filter_.bits, filter_.scale,
                                                       width_, words_);
        }
        CUDA_CHECK(cudaGetLastError());
    }

private:
    SignFilter filter_;
    int height_, width_, words_;
    DeviceBuffer bits_, scales_;
};

}  // namespace

std::unique_ptr<Layer> makeXnorGpu(const Filter3x3& filter, const Shape& in) {
    return std::make_unique<XnorGpu>(filter, in);
}

}  // namespace matte::baselines
