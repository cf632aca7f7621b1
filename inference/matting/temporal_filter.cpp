// SPDX-License-Identifier: Apache-2.0
#include "inference/matting/temporal_filter.h"

#include <algorithm>
#include <atomic>

#include "inference/core/parallel.h"
#include "inference/core/pixel_math.h"
#include "inference/core/vector_clones.h"

namespace matte {
namespace {

/// `count` floats of rows of 3: out = the weighted sum of the 2 kMotionBlurRadius + 1 pixels around, the row's ends
/// repeated.
MATTE_VECTOR_CLONES void blurRow(const float* in, int count, float* out) {
    const auto atBorder = [&](int i) {
        float sum = motionBlurWeight(0) * in[i];
        for (int d = 1; d <= kMotionBlurRadius; ++d) {
            const int before = i - 3 * d, after = i + 3 * d;
            sum +=
                motionBlurWeight(d) * (in[before < 0 ? i % 3 : before] + in[after < count ? after : count - 3 + i % 3]);
        }
        out[i] = sum;
    };
    constexpr int kBorder = 3 * kMotionBlurRadius;
    const int inner = std::max(count - kBorder, std::min(kBorder, count));
    for (int i = 0; i < std::min(kBorder, count); ++i) atBorder(i);
    for (int i = kBorder; i < inner; ++i) {
        float sum = motionBlurWeight(0) * in[i];
        for (int d = 1; d <= kMotionBlurRadius; ++d) sum += motionBlurWeight(d) * (in[i - 3 * d] + in[i + 3 * d]);
        out[i] = sum;
    }
    for (int i = inner; i < count; ++i) atBorder(i);
}

/// The same down the columns.
MATTE_VECTOR_CLONES void blurRows(const float* const* rows, int count, float* out) {
    for (int i = 0; i < count; ++i) {
        float sum = motionBlurWeight(0) * rows[kMotionBlurRadius][i];
        for (int d = 1; d <= kMotionBlurRadius; ++d) {
            sum += motionBlurWeight(d) * (rows[kMotionBlurRadius - d][i] + rows[kMotionBlurRadius + d][i]);
        }
        out[i] = sum;
    }
}

/// Returns how many pixels moved far.
MATTE_VECTOR_CLONES int motionRow(const float* colors, const float* reference, int width, float* out) {
    int moved = 0;
    for (int x = 0; x < width; ++x) {
        out[x] = motionOf(colors + 3 * x, reference + 3 * x);
        moved += out[x] > kCutMotion ? 1 : 0;
    }
    return moved;
}

/// The largest of each pixel's neighbours up to kMotionReach away in a row.
MATTE_VECTOR_CLONES void reachRow(const float* in, int width, float* out) {
    for (int x = 0; x < width; ++x) out[x] = in[x];
    for (int d = 1; d <= kMotionReach; ++d) {
        for (int x = d; x < width; ++x) out[x] = std::max(out[x], in[x - d]);
        for (int x = 0; x + d < width; ++x) out[x] = std::max(out[x], in[x + d]);
    }
}

MATTE_VECTOR_CLONES void largestRow(const float* const* rows, int width, float* out) {
    for (int x = 0; x < width; ++x) {
        float largest = rows[0][x];
        for (int i = 1; i <= 2 * kMotionReach; ++i) largest = std::max(largest, rows[i][x]);
        out[x] = largest;
    }
}

/// `rates` holds the motion before and the rates after.
MATTE_VECTOR_CLONES void followRow(float temporalSmoothing, int width, float* rates, float* alpha, float* matte) {
    for (int x = 0; x < width; ++x) {
        rates[x] = followRate(rates[x], matte[x] - alpha[x], temporalSmoothing);
        alpha[x] = fadeOut(follow(alpha[x], matte[x], rates[x]), matte[x]);
        matte[x] = alpha[x];
    }
}
MATTE_VECTOR_CLONES void followColors(const float* rates, const float* colors, int width, float* reference) {
    for (int x = 0; x < width; ++x) {
        for (int c = 0; c < 3; ++c) {
            reference[3 * x + c] = matte::follow(reference[3 * x + c], colors[3 * x + c], rates[x]);
        }
    }
}

/// The rows y - radius to y + radius of a picture, its first and last repeated.
template <int kRadius>
struct RowsAround {
    const float* rows[2 * kRadius + 1];
    RowsAround(const Planes& planes, int y) {
        for (int d = -kRadius; d <= kRadius; ++d) {
            rows[d + kRadius] = planes.row(std::clamp(y + d, 0, planes.size.height - 1));
        }
    }
};

}  // namespace

void TemporalFilter::blurColors(const Planes& picture) {
    const int width = picture.size.width, height = picture.size.height;
    parallelEach(height, [&](int y) { blurRow(picture.row(y), 3 * width, blurredAcross_.row(y)); });
    parallelEach(height, [&](int y) {
        blurRows(RowsAround<kMotionBlurRadius>(blurredAcross_, y).rows, 3 * width, colors_.row(y));
    });
}

/// The largest motion along each row nearby; after a cut, everything moved.
void TemporalFilter::findMotion() {
    const int width = colors_.size.width, height = colors_.size.height;
    std::atomic<int> moved = 0;
    parallelFor(height, [&](int first, int last, int) {
        int here = 0;
        for (int y = first; y < last; ++y) {
            here += motionRow(colors_.row(y), reference_.row(y), width, motion_.row(y));
            reachRow(motion_.row(y), width, motionAcross_.row(y));
        }
        moved += here;
    });
    if (float(moved) > kCutShare * float(colors_.size.pixels())) std::ranges::fill(motionAcross_.values, 1.0F);
}

void TemporalFilter::apply(const Planes& picture, float temporalSmoothing, Planes& matte) {
    const int width = matte.size.width, height = matte.size.height;
    if (!(alpha_.size == matte.size)) {
        // The matte's last: its size says that all are there.
        for (Planes* planes : {&reference_, &blurredAcross_, &colors_}) *planes = Planes(matte.size, 3);
        for (Planes* planes : {&motionAcross_, &motion_, &alpha_}) *planes = Planes(matte.size, 1);
        known_ = false;
    }
    if (!known_) std::ranges::fill(reference_.values, kForgotten);
    known_ = true;
    blurColors(picture);
    findMotion();
    parallelEach(height, [&](int y) {
        float* rates = motion_.row(y);
        largestRow(RowsAround<kMotionReach>(motionAcross_, y).rows, width, rates);
        followRow(temporalSmoothing, width, rates, alpha_.row(y), matte.row(y));
        followColors(rates, colors_.row(y), width, reference_.row(y));
    });
}

}  // namespace matte
