// SPDX-License-Identifier: Apache-2.0
// Baseline 3 of the CPU: im2col and a matrix product. The nine neighbours of 64 output pixels are laid out as columns,
// and the convolution becomes weights [out, 9 in] times columns [9 in, 64]. Columns are made a slab of kDepth rows at a
// time, which stays in the core's cache while every output channel passes over it; 4 channels by 32 pixels of sums stay
// in registers for the length of a slab.
#include <omp.h>

#include <algorithm>

#include "inference/baselines/baselines.h"
#include "inference/core/vector_clones.h"

namespace matte::baselines {
namespace {

constexpr int kStrip = 64, kDepth = 288, kRows = 4;  // kDepth: nine taps of 32 channels, 72 KiB of columns
using Vector = float __attribute__((vector_size(64)));
constexpr int kLanes = 16;

/// sums[o][kStrip] += weights[o][0 … depth] columns[0 … depth][kStrip] for `channels` rows that lie `pitch` floats
/// apart.
MATTE_VECTOR_CLONES void multiply(
    float* sums, const float* weights, std::size_t pitch, const float* columns, int channels, int depth) {
    for (int o = 0; o < channels; o += kRows) {
        // A last group of fewer than four computes its last channel again and again, and keeps it once.
        const float* row[kRows];
        for (int i = 0; i < kRows; ++i) row[i] = weights + std::size_t(std::min(o + i, channels - 1)) * pitch;
        for (int half = 0; half < kStrip; half += 2 * kLanes) {
            Vector sum[kRows][2] = {};
            for (int k = 0; k < depth; ++k) {
                const auto* column = reinterpret_cast<const Vector*>(columns + std::size_t(k) * kStrip + half);
                for (int i = 0; i < kRows; ++i) {
                    sum[i][0] += row[i][k] * column[0];
                    sum[i][1] += row[i][k] * column[1];
                }
            }
            for (int i = 0; i < std::min(kRows, channels - o); ++i) {
                auto* to = reinterpret_cast<Vector*>(sums + std::size_t(o + i) * kStrip + half);
                to[0] += sum[i][0];
                to[1] += sum[i][1];
            }
        }
    }
}

/// What one thread works in, on the boundaries that vectors want.
struct alignas(64) Aligned {
    float values[kLanes];
};
struct Scratch {
    std::vector<Aligned> columns, sums;
};

class Im2col final : public Layer {
public:
    Im2col(const Block& block, const Shape& shape)
        : filter_(folded(block)), relu_(block.relu), shape_(shape), scratch_(std::size_t(omp_get_max_threads())) {
        for (Scratch& scratch : scratch_) {
            scratch.columns.resize(std::size_t(kDepth) * kStrip / kLanes);
            scratch.sums.resize(std::size_t(filter_.outChannels) * kStrip / kLanes);
        }
    }

    void run(int, const float* in, float* out, StreamHandle) override {
        const int strips = int((shape_.pixels() + kStrip - 1) / kStrip), all = strips * shape_.batch;
#pragma omp parallel for schedule(dynamic) num_threads(int(scratch_.size()))
        for (int i = 0; i < all; ++i) {
            const std::size_t n = std::size_t(i / strips), pixels = shape_.pixels();
            runStrip(in + n * std::size_t(shape_.channels) * pixels,
                     out + n * std::size_t(filter_.outChannels) * pixels, i % strips * kStrip,
                     scratch_[std::size_t(omp_get_thread_num())]);
        }
    }

private:
    void runStrip(const float* in, float* out, int first, Scratch& scratch) const {
        const int rows = shape_.channels * 9, count = std::min(kStrip, int(shape_.pixels()) - first);
        float* sums = scratch.sums.front().values;
        for (int o = 0; o < filter_.outChannels; ++o)
            std::fill_n(sums + o * kStrip, kStrip, filter_.bias[std::size_t(o)]);
        for (int k = 0; k < rows; k += kDepth) {
            const int depth = std::min(kDepth, rows - k);
            float* columns = scratch.columns.front().values;
            for (int i = 0; i < depth; ++i) fillColumn(columns + i * kStrip, in, k + i, first, count);
            multiply(sums, filter_.weights.data() + k, std::size_t(rows), columns, filter_.outChannels, depth);
        }
        for (int o = 0; o < filter_.outChannels; ++o) {
            float* to = out + std::size_t(o) * shape_.pixels() + first;
            for (int i = 0; i < count; ++i) to[i] = relu_ ? std::max(sums[o * kStrip + i], 0.0F) : sums[o * kStrip + i];
        }
    }

    /// Row `k` of the columns is the image of channel k / 9, moved by its tap.
    void fillColumn(float* column, const float* in, int k, int first, int count) const {
        const int width = shape_.width, height = shape_.height, dy = k % 9 / 3 - 1, dx = k % 3 - 1;
        const float* image = in + std::size_t(k / 9) * shape_.pixels();
        std::fill_n(column, kStrip, 0.0F);
        for (int i = 0; i < count;) {
            // One image row of the strip at a time.
            const int y = (first + i) / width, x = (first + i) % width, run = std::min(count - i, width - x);
            const int sy = y + dy, from = std::max(x + dx, 0), to = std::min(x + run + dx, width);
            if (sy >= 0 && sy < height && from < to) {
                std::copy(image + std::size_t(sy) * width + from, image + std::size_t(sy) * width + to,
                          column + i + (from - x - dx));
            }
            i += run;
        }
    }

    Filter filter_;
    bool relu_;
    Shape shape_;
    std::vector<Scratch> scratch_;
};

}  // namespace

std::unique_ptr<Layer> makeCpuIm2col(const Block& block, const Shape& in) {
    return std::make_unique<Im2col>(block, in);
}

}  // namespace matte::baselines
