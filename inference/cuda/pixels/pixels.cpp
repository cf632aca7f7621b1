// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/pixels/pixels.h"

#include <vector>

#include "inference/matting/resample.h"

namespace matte::device {
namespace {

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
    CUDA_CHECK(cudaStreamSynchronize(cudaStreamLegacy));  // the default stream, for which no other waits
    across_.taps = taps_.as<AxisTap>();
    down_.taps = across_.taps + to.width;
}

bool Resampling::change(Size from, Size to) {
    if (from_ == from && to_ == to) return false;
    *this = Resampling(from, to);
    return true;
}

Scratch::Scratch(Partition& parts, Size grid)
    : guide(parts.take<float4>(grid.pixels())),
      target(parts.take<float>(grid.pixels())),
      sums(parts.take<float4>(4 * grid.pixels())),
      models(parts.take<float4>(grid.pixels())),
      shares(parts.take<float>(grid.pixels())),
      totals(parts.take<float4>(2 + 2 * kTotalBlocks)) {}

}  // namespace matte::device
