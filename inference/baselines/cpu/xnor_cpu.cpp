// SPDX-License-Identifier: Apache-2.0
// The XNOR convolution on the CPU. The course writes every window of nine signs into memory and packs seven of them
// into a word; here a word holds the signs of 64 neighbours of a row, once, and a window is three bits of three words:
// 1/32 of the picture's bytes are read instead of nine times all of them.
#include <bit>
#include <cmath>
#include <cstdint>

#include "inference/baselines/baselines.h"
#include "inference/core/vector_clones.h"

namespace matte::baselines {
namespace {

MATTE_VECTOR_CLONES void packRow(const float* in, std::uint64_t* bits, int width) {
    for (int x = 0; x < width; x += 64) {
        std::uint64_t word = 0;
        const int count = width - x < 64 ? width - x : 64;
        for (int i = 0; i < count; ++i) word |= std::uint64_t(in[x + i] > 0) << i;
        bits[x / 64] = word;
    }
}

/// `width` sums of nine absolute values, in the order of the definition, over nine.
MATTE_VECTOR_CLONES void scaleRow(const float* in, std::size_t pitch, float* scales, int width) {
    for (int x = 0; x < width; ++x) {
        float sum = 0;
        for (int tap = 0; tap < 9; ++tap) sum += std::fabs(in[std::size_t(tap / 3) * pitch + std::size_t(x + tap % 3)]);
        scales[x] = sum / 9;
    }
}

/// Three bits of a row of words from bit x on; there is a word to spare behind each row.
inline unsigned threeBits(const std::uint64_t* row, int x) {
    const int shift = x % 64;
    const std::uint64_t low = row[x / 64] >> shift, high = row[x / 64 + 1] << 1 << (63 - shift);
    return unsigned(low | high) & 7U;
}

MATTE_VECTOR_CLONES void matchRow(const std::uint64_t* bits,
                                  std::size_t words,
                                  const SignFilter& filter,
                                  const float* scales,
                                  float* out,
                                  int width) {
    for (int x = 0; x < width; ++x) {
        const unsigned window =
            threeBits(bits, x) | threeBits(bits + words, x) << 3 | threeBits(bits + 2 * words, x) << 6;
        const int matches = std::popcount(~(window ^ filter.bits) & 511U);
        out[x] = float(2 * matches - 9) * scales[x] * filter.scale;
    }
}

class XnorCpu final : public Layer {
public:
    XnorCpu(const Filter3x3& filter, const Shape& in)
        : filter_(filter),
          height_(in.height - 2),
          width_(in.width - 2),
          words_(std::size_t(in.width) / 64 + 2),
          bits_(words_ * std::size_t(in.height)),
          scales_(std::size_t(height_) * width_) {}

    [[nodiscard]] int steps() const override { return 3; }
    void run(int step, const float* in, float* out, StreamHandle) override {
        const std::size_t pitch = std::size_t(width_) + 2;
        const int rows = step == 0 ? height_ + 2 : height_;
#pragma omp parallel for schedule(static)
        for (int y = 0; y < rows; ++y) {
            float* scales = scales_.data() + std::size_t(y) * width_;
            std::uint64_t* bits = bits_.data() + std::size_t(y) * words_;
            const float* from = in + std::size_t(y) * pitch;
            if (step == 0) packRow(from, bits, width_ + 2);
            if (step == 1) scaleRow(from, pitch, scales, width_);
            if (step == 2) matchRow(bits, words_, filter_, scales, out + std::size_t(y) * width_, width_);
        }
    }

private:
    SignFilter filter_;
    int height_, width_;
    std::size_t words_;  ///< of a row
    std::vector<std::uint64_t> bits_;
    std::vector<float> scales_;
};

}  // namespace

std::unique_ptr<Layer> makeXnorCpu(const Filter3x3& filter, const Shape& in) {
    return std::make_unique<XnorCpu>(filter, in);
}

}  // namespace matte::baselines
