// SPDX-License-Identifier: Apache-2.0
#include "inference/matting/trimap.h"

#include <algorithm>

#include "inference/core/parallel.h"
#include "inference/matting/guided_filter.h"

namespace matte {
namespace {

/// Larger than alpha's rounding error, so that a label gives the same pixels as compositing each one.
constexpr float kMargin = 1e-4F;

/// The label of a pixel at `point`, whatever its colour. Between points alpha is a mean of theirs. What is not
/// finite is unknown.
TrimapLabel labelOf(const float* point, Edge edge, bool lit) {
    const float* c = point + guided::kCoefficients;
    float most = c[3], least = c[3];  // of alpha, with colours of 0 to 1
    for (int i = 0; i < 3; ++i) {
        most += std::max(c[i], 0.0F);
        least += std::min(c[i], 0.0F);
    }
    const bool neverAbove0 = c[0] <= 0 && c[1] <= 0 && c[2] <= 0 && c[3] <= 0;
    if (most <= edge.low - kMargin || neverAbove0) return TrimapLabel::background;
    if (!(least >= edge.high + kMargin)) return TrimapLabel::unknown;
    if (!lit) return TrimapLabel::foreground;
    const float* light = point + guided::kWrap;
    return light[0] + light[1] + light[2] < 0.99F * kNoLight ? TrimapLabel::foreground : TrimapLabel::unknown;
}

}  // namespace

void Trimap::find(const Planes& guided, Edge edge, bool lit) {
    size_ = guided.size;
    const int width = size_.width, height = size_.height;
    points_.resize(size_.pixels());
    cells_.resize(size_.pixels());
    parallelEach(height, [&](int y) {
        const float* point = guided.row(y);
        for (int x = 0; x < width; ++x, point += guided::kChannels) {
            points_[std::size_t(y * width + x)] = labelOf(point, edge, lit);
        }
    });
    parallelEach(height, [&](int y) {
        const TrimapLabel *above = points_.data() + std::ptrdiff_t(y) * width,
                          *below = y + 1 < height ? above + width : above;
        for (int x = 0; x < width; ++x) {
            const int next = std::min(x + 1, width - 1);
            const bool same = above[x] == above[next] && above[x] == below[x] && above[x] == below[next];
            cells_[std::size_t(y * width + x)] = same ? above[x] : TrimapLabel::unknown;
        }
    });
}

}  // namespace matte
