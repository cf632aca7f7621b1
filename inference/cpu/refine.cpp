// SPDX-License-Identifier: Apache-2.0
#include "inference/cpu/refine.h"

#include <algorithm>
#include <cmath>

#include "inference/cpu/transfer.h"
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

constexpr int kStrip = 256;

/// The columns [begin, end) of floats, at most kStrip: a running sum down the picture.
template <typename Sum>
void boxColumns(const Planes& in, int begin, int end, int radius, Planes& out) {
    const int height = in.size.height, count = end - begin;
    Sum sum[kStrip] = {};
    const auto add = [&](int y, float sign) {
        const float* row = in.row(y) + begin;
        for (int i = 0; i < count; ++i) sum[i] += Sum(sign * row[i]);
    };
    for (int y = 0; y < std::min(radius, height); ++y) add(y, 1);
    for (int y = 0; y < height; ++y) {
        const int enter = y + radius, leave = y - radius - 1;
        if (enter < height) add(enter, 1);
        if (leave >= 0) add(leave, -1);
        const float scale = 1.0F / float(std::min(enter, height - 1) - std::max(leave + 1, 0) + 1);
        float* row = out.row(y) + begin;
        for (int i = 0; i < count; ++i) row[i] = float(sum[i]) * scale;
    }
}

/// boxFilter() with running sums of type Sum.
template <typename Sum>
void boxMeans(Planes& planes, int radius, int passes, Planes& across) {
    reshape(across, planes.size, planes.channels);
    const int height = planes.size.height, rowFloats = planes.size.width * planes.channels;
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

/// Means over windows of `radius` of the person's colour times alpha (3), the background's times 1 - alpha (3), alpha
/// and 1 - alpha; `foreground` and `background` are the estimates so far.
void weightedSums(
    const Planes& foreground, const Planes& background, const Planes& alpha, int radius, Planes& sums, Planes& across) {
    reshape(sums, alpha.size, 8);
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
    boxMeans<float>(sums, radius, 1, across);
}

}  // namespace

void boxFilter(Planes& planes, int radius, int passes) {
    Planes across;
    boxMeans<float>(planes, radius, passes, across);
}

void toLinear(const Planes& encoded, Planes& linear) {
    reshape(linear, encoded.size, encoded.channels);
    const auto count = std::ptrdiff_t(encoded.values.size());
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t i = 0; i < count; ++i) linear.values[i] = srgbToLinear(encoded.values[i]);
}

void lookUpLinear(const Planes& encoded, Planes& linear) {
    reshape(linear, encoded.size, encoded.channels);
    const Transfer& tables = transfer();
    const auto count = std::ptrdiff_t(encoded.values.size());
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t i = 0; i < count; ++i) linear.values[i] = tables.linearOf(encoded.values[i]);
}

void fitGuidedFilter(const Planes& guide, const Planes& alpha, Planes& fields, RefineScratch& scratch) {
    scratch.enlarge.resample(alpha, guide.size, scratch.target);
    const Planes& target = scratch.target;
    const auto pixels = std::ptrdiff_t(guide.size.pixels());
    const int radius = guidedRadius(guide.size.longest(), alpha.size.longest());
    Planes& moments = scratch.moments;
    reshape(moments, guide.size, kMoments);
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t i = 0; i < pixels; ++i) {
        windowMoments(guide.values.data() + i * 3, target.values[i], moments.values.data() + i * kMoments);
    }
    // In double: what a float sum loses along a row is as large as the covariances of a flat window.
    boxMeans<double>(moments, radius, 1, scratch.across);
    Planes& models = scratch.models;
    reshape(models, guide.size, 5);
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t i = 0; i < pixels; ++i) {
        solveWindow(moments.values.data() + i * kMoments, models.values.data() + i * 5);
    }
    boxMeans<float>(models, radius, 1, scratch.across);
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t i = 0; i < pixels; ++i) {
        // Where colour does not explain the matte, the network's own word stands.
        const float* model = models.values.data() + i * 5;
        float* out = fields.values.data() + i * field::kChannels;
        std::copy_n(model, 3, out);
        out[3] = model[3] + (1 - model[4]) * target.values[i];
    }
}

void evaluateAlpha(const Planes& guide, const Planes& fields, Planes& alpha) {
    reshape(alpha, guide.size, 1);
    const auto pixels = std::ptrdiff_t(guide.size.pixels());
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t i = 0; i < pixels; ++i) {
        const float* c = fields.values.data() + i * field::kChannels;
        const float* color = guide.values.data() + i * 3;
        alpha.values[i] = clampUnit(c[0] * color[0] + c[1] * color[1] + c[2] * color[2] + c[3]);
    }
}

namespace {

/// Both sides' mean colours in the whole picture: what the widest window would find everywhere.
void wholeColors(const Planes& linear, const Planes& alpha, float* mean) {
    double r = 0, g = 0, b = 0, person = 0, allR = 0, allG = 0, allB = 0;
    const auto pixels = std::ptrdiff_t(alpha.size.pixels());
#pragma omp parallel for schedule(static) reduction(+ : r, g, b, person, allR, allG, allB)
    for (std::ptrdiff_t i = 0; i < pixels; ++i) {
        const float a = alpha.values[i];
        const float* color = linear.values.data() + i * 3;
        r += a * color[0];
        g += a * color[1];
        b += a * color[2];
        allR += color[0];
        allG += color[1];
        allB += color[2];
        person += a;
    }
    const double weighted[3] = {r, g, b}, all[3] = {allR, allG, allB}, count = double(pixels);
    for (int c = 0; c < 3; ++c) {
        mean[c] = sideColor(float(weighted[c] / count), float(person / count), 0);
        mean[3 + c] = sideColor(float((all[c] - weighted[c]) / count), float(1 - person / count), 0);
    }
}

}  // namespace

void estimateColors(const Planes& linear, const Planes& alpha, Planes& fields, RefineScratch& scratch) {
    const auto pixels = std::ptrdiff_t(alpha.size.pixels());
    const int longest = alpha.size.longest();
    Planes &foreground = scratch.foreground, &background = scratch.background, &wider = scratch.wider;
    reshape(foreground, alpha.size, 3);
    reshape(background, alpha.size, 3);
    reshape(wider, alpha.size, 6);
    float whole[6];
    wholeColors(linear, alpha, whole);
    const auto estimate = [&](std::ptrdiff_t i) {
        const float* mean = wider.values.data() + i * 6;
        for (int c = 0; c < 3; ++c) {
            foreground.values[i * 3 + c] =
                foregroundColor(linear.values[i * 3 + c], alpha.values[i], mean[c], mean[3 + c]);
            background.values[i * 3 + c] = mean[3 + c];
        }
    };
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t i = 0; i < pixels; ++i) {
        std::copy_n(whole, 6, wider.values.data() + i * 6);
        estimate(i);
    }
    for (const int radius : {wideColorRadius(longest), narrowColorRadius(longest)}) {
        weightedSums(foreground, background, alpha, radius, scratch.sums, scratch.across);
        // The composite starts from the means: it corrects them with the full picture's own pixel.
        const bool last = radius == narrowColorRadius(longest);
#pragma omp parallel for schedule(static)
        for (std::ptrdiff_t i = 0; i < pixels; ++i) {
            const float* s = scratch.sums.values.data() + i * 8;
            float* mean = wider.values.data() + i * 6;
            for (int c = 0; c < 3; ++c) {
                mean[c] = sideColor(s[c], s[6], mean[c]);
                mean[3 + c] = sideColor(s[3 + c], s[7], mean[3 + c]);
            }
            if (last) {
                std::copy_n(mean, 6, fields.values.data() + i * field::kChannels + field::kForeground);
            } else {
                estimate(i);
            }
        }
    }
}

void blurBackground(const Planes& linear, const Planes& alpha, float sigma, Planes& fields, RefineScratch& scratch) {
    const auto pixels = std::ptrdiff_t(alpha.size.pixels());
    Planes& sums = scratch.sums;
    reshape(sums, alpha.size, 4);
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t i = 0; i < pixels; ++i) {
        const float weight = 1 - alpha.values[i];
        for (int c = 0; c < 3; ++c) sums.values[i * 4 + c] = linear.values[i * 3 + c] * weight;
        sums.values[i * 4 + 3] = weight;
    }
    boxMeans<float>(sums, blurRadius(sigma), 3, scratch.across);
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t i = 0; i < pixels; ++i) {
        const float* s = sums.values.data() + i * 4;
        float* out = fields.values.data() + i * field::kChannels;
        for (int c = 0; c < 3; ++c) {
            out[field::kBlurred + c] = blurredColor(s[c], s[3], out[field::kBackground + c]);
        }
    }
}

WrapSource wrapSource(const Look& look, const Image* plate) {
    WrapSource source;
    source.blurred = look.background.kind == Background::Kind::blur;
    source.plate = plate;
    const std::uint8_t rgb[3] = {look.background.color.r, look.background.color.g, look.background.color.b};
    for (int c = 0; c < 3; ++c) source.color[c] = transfer().linear[rgb[c]];
    source.place = placeOf(look.stand.mirrored, look.stand.scale, look.stand.x, look.stand.y);
    return source;
}

void wrapLight(const Planes& alpha, const WrapSource& source, Planes& fields, RefineScratch& scratch) {
    Planes& light = scratch.sums;
    reshape(light, alpha.size, 4);
    const int width = alpha.size.width, height = alpha.size.height;
    const Place& place = source.place;
#pragma omp parallel for schedule(static)
    for (int y = 0; y < height; ++y) {
        const float* field = fields.row(y);
        float* out = light.row(y);
        for (int x = 0; x < width; ++x, out += 4, field += field::kChannels) {
            const float* color = source.blurred ? field + field::kBlurred : source.color;
            float shown[3];
            if (source.plate) {
                const Size frame = source.plate->size();
                const std::uint8_t* pixel =
                    source.plate->row(shownAt(place.perY, place.fromY, y, height, frame.height)) +
                    std::ptrdiff_t(4) * shownAt(place.perX, place.fromX, x, width, frame.width);
                for (int c = 0; c < 3; ++c) shown[c] = transfer().linear[pixel[c]];
                color = shown;
            }
            for (int c = 0; c < 3; ++c) out[c] = color[c] * (1 - alpha.row(y)[x]);
            out[3] = 0;
        }
    }
    boxMeans<float>(light, wrapRadius(alpha.size.longest()), 2, scratch.across);
    const auto pixels = std::ptrdiff_t(alpha.size.pixels());
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t i = 0; i < pixels; ++i) {
        std::copy_n(light.values.data() + i * 4, 3, fields.values.data() + i * field::kChannels + field::kWrap);
    }
}

void fitGuidedFilter(const Planes& guide, const Planes& alpha, Planes& fields) {
    RefineScratch scratch;
    fitGuidedFilter(guide, alpha, fields, scratch);
}
Planes evaluateAlpha(const Planes& guide, const Planes& fields) {
    Planes alpha;
    evaluateAlpha(guide, fields, alpha);
    return alpha;
}
void estimateColors(const Planes& linear, const Planes& alpha, Planes& fields) {
    RefineScratch scratch;
    estimateColors(linear, alpha, fields, scratch);
}
void blurBackground(const Planes& linear, const Planes& alpha, float sigma, Planes& fields) {
    RefineScratch scratch;
    blurBackground(linear, alpha, sigma, fields, scratch);
}
Planes toLinear(const Planes& encoded) {
    Planes linear;
    toLinear(encoded, linear);
    return linear;
}

}  // namespace matte
