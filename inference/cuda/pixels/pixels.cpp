// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/pixels/pixels.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "inference/matting/resample.h"

namespace matte::device {
namespace {

constexpr std::size_t kAlignment = 256;

std::size_t aligned(std::size_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// Appends the taps of one axis; returns the weight of the inputs between a tap's first and last.
float append(int inputs, int outputs, std::vector<AxisTap>& to) {
    const Taps taps(inputs, outputs);
    float inner = 0;
    for (int i = 0; i < outputs; ++i) {
        const Taps::Span span = taps.spans[std::size_t(i)];
        const float* weights = taps.at(i);
        to.push_back({span.first, span.count, weights[0], weights[span.count - 1]});
        if (span.count > 2) inner = weights[1];
    }
    return inner;
}

}  // namespace

Resampling::Resampling(Size from, Size to) : from_(from), to_(to) {
    std::vector<AxisTap> taps;
    across_.inner = append(from.width, to.width, taps);
    down_.inner = append(from.height, to.height, taps);
    taps_ = DeviceBuffer(taps.size() * sizeof(AxisTap));
    CUDA_CHECK(cudaMemcpy(taps_.data(), taps.data(), taps_.bytes(), cudaMemcpyHostToDevice));
    across_.taps = taps_.as<AxisTap>();
    down_.taps = across_.taps + to.width;
}

std::size_t Scratch::bytes(Size grid) {
    const std::size_t pixels = grid.pixels();
    return aligned(pixels * sizeof(float4)) * 2 + aligned(pixels * sizeof(float)) * 2 +
           aligned(4 * pixels * sizeof(float4)) + aligned((2 + 2 * kTotalBlocks) * sizeof(float4));
}

Scratch Scratch::in(std::byte* memory, Size grid) {
    const auto take = [&memory]<typename T>(T*& part, std::size_t count) {
        part = reinterpret_cast<T*>(memory);
        memory += aligned(count * sizeof(T));
    };
    const std::size_t pixels = grid.pixels();
    Scratch scratch;
    take(scratch.guide, pixels);
    take(scratch.models, pixels);
    take(scratch.target, pixels);
    take(scratch.shares, pixels);
    take(scratch.sums, 4 * pixels);
    take(scratch.totals, 2 + 2 * kTotalBlocks);
    return scratch;
}

}  // namespace matte::device
