// SPDX-License-Identifier: Apache-2.0
#include "inference/cpu/refine.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "inference/cpu/resample.h"
#include "inference/pixel_math.h"

namespace matte {
namespace {

/// Below this squared contrast (of 0 to 1) a window counts as flat and alpha is not explained by colour there.
constexpr float kFlatness = 1e-4F;
/// Where a side's weight in a window is smaller than this, the window says nothing about that side's colour.
constexpr float kMinWeight = 1e-3F;

void boxRow(const float* in, int width, int channels, int radius, float* out) {
    std::array<float, 16> sum{};
    for (int x = 0; x < std::min(radius, width); ++x) {
        for (int c = 0; c < channels; ++c) sum[std::size_t(c)] += in[x * channels + c];
    }
    for (int x = 0; x < width; ++x) {
        const int enter = x + radius, leave = x - radius - 1;
        const float scale = 1.0F / float(std::min(enter, width - 1) - std::max(leave + 1, 0) + 1);
        for (int c = 0; c < channels; ++c) {
            if (enter < width) sum[std::size_t(c)] += in[enter * channels + c];
            if (leave >= 0) sum[std::size_t(c)] -= in[leave * channels + c];
            out[x * channels + c] = sum[std::size_t(c)] * scale;
        }
    }
}

/// The columns [begin, end) of floats: a running sum down the picture.
void boxColumns(const Planes& in, int begin, int end, int radius, Planes& out) {
    const int height = in.size.height;
    std::vector<float> sum(std::size_t(end - begin), 0.0F);
    const auto add = [&](int y, float sign) {
        const float* row = in.row(y) + begin;
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += sign * row[i];
    };
    for (int y = 0; y < std::min(radius, height); ++y) add(y, 1);
    for (int y = 0; y < height; ++y) {
        const int enter = y + radius, leave = y - radius - 1;
        if (enter < height) add(enter, 1);
        if (leave >= 0) add(leave, -1);
        const float scale = 1.0F / float(std::min(enter, height - 1) - std::max(leave + 1, 0) + 1);
        float* row = out.row(y) + begin;
        for (std::size_t i = 0; i < sum.size(); ++i) row[i] = sum[i] * scale;
    }
}

/// Solves the symmetric 3x3 system of the guided filter at one pixel: (covariance + flatness) a = covariance with
/// alpha.
void solveWindow(const float* m, float* out) {
    const float rr = m[3] - m[0] * m[0] + kFlatness, rg = m[4] - m[0] * m[1], rb = m[5] - m[0] * m[2];
    const float gg = m[6] - m[1] * m[1] + kFlatness, gb = m[7] - m[1] * m[2], bb = m[8] - m[2] * m[2] + kFlatness;
    const float pr = m[10] - m[0] * m[9], pg = m[11] - m[1] * m[9], pb = m[12] - m[2] * m[9];
    const float crr = gg * bb - gb * gb, crg = gb * rb - rg * bb, crb = rg * gb - gg * rb;
    const float cgg = rr * bb - rb * rb, cgb = rg * rb - rr * gb, cbb = rr * gg - rg * rg;
    const float determinant = rr * crr + rg * crg + rb * crb;
    const float scale = determinant > 0 ? 1 / determinant : 0.0F;
    out[0] = (crr * pr + crg * pg + crb * pb) * scale;
    out[1] = (crg * pr + cgg * pg + cgb * pb) * scale;
    out[2] = (crb * pr + cgb * pg + cbb * pb) * scale;
    out[3] = m[9] - out[0] * m[0] - out[1] * m[1] - out[2] * m[2];
}

/// Local means of the person's and the background's colour over windows of `radius`: channels 0-2 and 3-5 of the
/// result. `foreground` and `background` are the estimates so far [H, W, 3 of stride `channels` each].
Planes weightedMeans(const Planes& foreground, const Planes& background, const Planes& alpha, int radius) {
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

}  // namespace

void boxFilter(Planes& planes, int radius) {
    Planes across(planes.size, planes.channels);
    const int height = planes.size.height, rowFloats = planes.size.width * planes.channels;
#pragma omp parallel for schedule(static)
    for (int y = 0; y < height; ++y) boxRow(planes.row(y), planes.size.width, planes.channels, radius, across.row(y));
    constexpr int kStrip = 256;
#pragma omp parallel for schedule(dynamic)
    for (int begin = 0; begin < rowFloats; begin += kStrip) {
        boxColumns(across, begin, std::min(begin + kStrip, rowFloats), radius, planes);
    }
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
    // A window must span about two of the network's pixels to see both sides of an edge that the network placed a pixel
    // off.
    const int radius = std::max(2, int(std::lround(2.0 * guide.size.longest() / alpha.size.longest())));
    Planes moments(guide.size, 13);
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t i = 0; i < pixels; ++i) {
        const float* color = guide.values.data() + i * 3;
        const float p = target.values[i];
        float* m = moments.values.data() + i * 13;
        std::copy_n(color, 3, m);
        int at = 3;
        for (int c = 0; c < 3; ++c) {
            for (int d = c; d < 3; ++d) m[at++] = color[c] * color[d];
        }
        m[9] = p;
        for (int c = 0; c < 3; ++c) m[10 + c] = color[c] * p;
    }
    boxFilter(moments, radius);
    Planes coefficients(guide.size, 4);
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t i = 0; i < pixels; ++i)
        solveWindow(moments.values.data() + i * 13, coefficients.values.data() + i * 4);
    boxFilter(coefficients, radius);
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t i = 0; i < pixels; ++i) {
        std::copy_n(coefficients.values.data() + i * 4, 4, fields.values.data() + i * field::kChannels);
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
    Planes foreground = linear, background = linear;
    for (const int radius : {std::max(2, longest / 12), std::max(1, longest / 128)}) {
        const Planes means = weightedMeans(foreground, background, alpha, radius);
#pragma omp parallel for schedule(static)
        for (std::ptrdiff_t i = 0; i < pixels; ++i) {
            const float* m = means.values.data() + i * 8;
            const float a = alpha.values[i];
            for (int c = 0; c < 3; ++c) {
                float* f = &foreground.values[i * 3 + c];
                float* b = &background.values[i * 3 + c];
                const float f0 = m[6] > kMinWeight ? m[c] / m[6] : *f, b0 = m[7] > kMinWeight ? m[3 + c] / m[7] : *b;
                *f = foregroundColor(linear.values[i * 3 + c], a, f0, b0);
                *b = b0;
                // What the composite starts from is the mean itself: it corrects it with the full picture's own pixel.
                fields.values[i * field::kChannels + field::kForeground + c] = f0;
                fields.values[i * field::kChannels + field::kBackground + c] = b0;
            }
        }
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
    // Three box filters of variance sigma^2 / 3 each come close to a Gaussian.
    const int radius = std::max(1, int(std::lround((std::sqrt(4 * sigma * sigma + 1) - 1) / 2)));
    for (int pass = 0; pass < 3; ++pass) boxFilter(sums, radius);
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t i = 0; i < pixels; ++i) {
        const float* s = sums.values.data() + i * 4;
        float* out = fields.values.data() + i * field::kChannels;
        // Deep inside the person no background is near: the wide mean fills in there.
        constexpr float kFill = 0.01F;
        for (int c = 0; c < 3; ++c) {
            out[field::kBlurred + c] = (s[c] + kFill * out[field::kBackground + c]) / (s[3] + kFill);
        }
    }
}

}  // namespace matte
