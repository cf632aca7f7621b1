// SPDX-License-Identifier: Apache-2.0
#include "inference/cpu/refine.h"

#include <algorithm>
#include <cmath>

#include "inference/cpu/resample.h"
#include "inference/pixel_math.h"

namespace matte {
namespace {

/// kChannels neighbouring ones of `stride` channels: known when compiled, so that they are summed at once.
template <typename Sum, int kChannels>
void boxRow(const float* in, int width, int stride, int radius, float* out) {
    Sum sum[kChannels] = {};
    for (int x = 0; x < std::min(radius, width); ++x) {
        for (int c = 0; c < kChannels; ++c) sum[c] += Sum(in[x * stride + c]);
    }
    for (int x = 0; x < width; ++x) {
        const int enter = x + radius, leave = x - radius - 1;
        const float scale = 1.0F / float(std::min(enter, width - 1) - std::max(leave + 1, 0) + 1);
        if (enter < width) {
            for (int c = 0; c < kChannels; ++c) sum[c] += Sum(in[enter * stride + c]);
        }
        if (leave >= 0) {
            for (int c = 0; c < kChannels; ++c) sum[c] -= Sum(in[leave * stride + c]);
        }
        for (int c = 0; c < kChannels; ++c) out[x * stride + c] = float(sum[c]) * scale;
    }
}

template <typename Sum>
void boxRow(const float* in, int width, int channels, int radius, float* out) {
    int c = 0;
    for (; c + 4 <= channels; c += 4) boxRow<Sum, 4>(in + c, width, channels, radius, out + c);
    for (; c < channels; ++c) boxRow<Sum, 1>(in + c, width, channels, radius, out + c);
}

/// The columns [begin, end) of floats: a running sum down the picture.
template <typename Sum>
void boxColumns(const Planes& in, int begin, int end, int radius, Planes& out) {
    const int height = in.size.height;
    std::vector<Sum> sum(std::size_t(end - begin));
    const auto add = [&](int y, float sign) {
        const float* row = in.row(y) + begin;
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += Sum(sign * row[i]);
    };
    for (int y = 0; y < std::min(radius, height); ++y) add(y, 1);
    for (int y = 0; y < height; ++y) {
        const int enter = y + radius, leave = y - radius - 1;
        if (enter < height) add(enter, 1);
        if (leave >= 0) add(leave, -1);
        const float scale = 1.0F / float(std::min(enter, height - 1) - std::max(leave + 1, 0) + 1);
        float* row = out.row(y) + begin;
        for (std::size_t i = 0; i < sum.size(); ++i) row[i] = float(sum[i]) * scale;
    }
}

/// Means over windows of `radius` of the person's colour times alpha (3), the background's times 1 - alpha (3), alpha
/// and 1 - alpha; `foreground` and `background` are the estimates so far.
Planes weightedSums(const Planes& foreground, const Planes& background, const Planes& alpha, int radius) {
    Planes sums(alpha.size, 8);
    const auto pixels = std::ptrdiff_t(alpha.size.pixels());
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t i = 0; i < pixels; ++i) {
        const float a = alpha.values[i];
        for (int c = 0; c < 3; ++c) {
            sums.values[i * 8 + c] = foreground.values[i * 3 + c] * a;
            sums.values[i * 8 + 3 + c] = background.values[i * 3 + c] * (1 - a);
        }
        sums.values[i * 8 + 6] = a;
        sums.values[i * 8 + 7] = 1 - a;
    }
    boxFilter(sums, radius);
    return sums;
}

/// boxFilter() with running sums of type Sum.
template <typename Sum>
void boxMeans(Planes& planes, int radius, int passes = 1) {
    Planes across(planes.size, planes.channels);
    const int height = planes.size.height, rowFloats = planes.size.width * planes.channels;
    constexpr int kStrip = 256;
    for (int pass = 0; pass < passes; ++pass) {
#pragma omp parallel for schedule(static)
        for (int y = 0; y < height; ++y) {
            boxRow<Sum>(planes.row(y), planes.size.width, planes.channels, radius, across.row(y));
        }
#pragma omp parallel for schedule(dynamic)
        for (int begin = 0; begin < rowFloats; begin += kStrip) {
            boxColumns<Sum>(across, begin, std::min(begin + kStrip, rowFloats), radius, planes);
        }
    }
}

}  // namespace

void boxFilter(Planes& planes, int radius, int passes) {
    boxMeans<float>(planes, radius, passes);
}

Planes toLinear(const Planes& encoded) {
    Planes linear(encoded.size, encoded.channels);
    const auto count = std::ptrdiff_t(encoded.values.size());
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t i = 0; i < count; ++i) linear.values[i] = srgbToLinear(encoded.values[i]);
    return linear;
}

void fitGuidedFilter(const Planes& guide, const Planes& alpha, Planes& fields) {
    const Planes target = resamplePlanes(alpha, guide.size);
    const auto pixels = std::ptrdiff_t(guide.size.pixels());
    const int radius = guidedRadius(guide.size.longest(), alpha.size.longest());
    Planes moments(guide.size, kMoments);
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t i = 0; i < pixels; ++i) {
        windowMoments(guide.values.data() + i * 3, target.values[i], moments.values.data() + i * kMoments);
    }
    // In double: what a float sum loses along a row is as large as the covariances of a flat window.
    boxMeans<double>(moments, radius);
    Planes models(guide.size, 5);
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t i = 0; i < pixels; ++i) {
        solveWindow(moments.values.data() + i * kMoments, models.values.data() + i * 5);
    }
    boxFilter(models, radius);
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t i = 0; i < pixels; ++i) {
        // Where colour does not explain the matte, the network's own word stands.
        const float* model = models.values.data() + i * 5;
        float* out = fields.values.data() + i * field::kChannels;
        std::copy_n(model, 3, out);
        out[3] = model[3] + (1 - model[4]) * target.values[i];
    }
}

Planes evaluateAlpha(const Planes& guide, const Planes& fields) {
    Planes alpha(guide.size, 1);
    const auto pixels = std::ptrdiff_t(guide.size.pixels());
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t i = 0; i < pixels; ++i) {
        const float* c = fields.values.data() + i * field::kChannels;
        const float* color = guide.values.data() + i * 3;
        alpha.values[i] = clampUnit(c[0] * color[0] + c[1] * color[1] + c[2] * color[2] + c[3]);
    }
    return alpha;
}

void estimateColors(const Planes& linear, const Planes& alpha, Planes& fields) {
    const auto pixels = std::ptrdiff_t(alpha.size.pixels());
    const int longest = alpha.size.longest();
    Planes foreground = linear, background = linear, wider(alpha.size, 6);
    for (const int radius : {longest, wideColorRadius(longest), narrowColorRadius(longest)}) {
        const Planes sums = weightedSums(foreground, background, alpha, radius);
#pragma omp parallel for schedule(static)
        for (std::ptrdiff_t i = 0; i < pixels; ++i) {
            const float* s = sums.values.data() + i * 8;
            float* mean = wider.values.data() + i * 6;
            for (int c = 0; c < 3; ++c) {
                mean[c] = sideColor(s[c], s[6], mean[c]);
                mean[3 + c] = sideColor(s[3 + c], s[7], mean[3 + c]);
                foreground.values[i * 3 + c] =
                    foregroundColor(linear.values[i * 3 + c], alpha.values[i], mean[c], mean[3 + c]);
                background.values[i * 3 + c] = mean[3 + c];
            }
        }
    }
    // The composite starts from the means: it corrects them with the full picture's own pixel.
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t i = 0; i < pixels; ++i) {
        std::copy_n(wider.values.data() + i * 6, 6, fields.values.data() + i * field::kChannels + field::kForeground);
    }
}

void blurBackground(const Planes& linear, const Planes& alpha, float sigma, Planes& fields) {
    const auto pixels = std::ptrdiff_t(alpha.size.pixels());
    Planes sums(alpha.size, 4);
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t i = 0; i < pixels; ++i) {
        const float weight = 1 - alpha.values[i];
        for (int c = 0; c < 3; ++c) sums.values[i * 4 + c] = linear.values[i * 3 + c] * weight;
        sums.values[i * 4 + 3] = weight;
    }
    const int radius = blurRadius(sigma);
    boxFilter(sums, radius, 3);
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t i = 0; i < pixels; ++i) {
        const float* s = sums.values.data() + i * 4;
        float* out = fields.values.data() + i * field::kChannels;
        for (int c = 0; c < 3; ++c) {
            out[field::kBlurred + c] = blurredColor(s[c], s[3], out[field::kBackground + c]);
        }
    }
}

}  // namespace matte
