// SPDX-License-Identifier: Apache-2.0
#include "inference/cpu/refine.h"

#include <algorithm>
#include <cmath>

#include "inference/cpu/box_filter.h"
#include "inference/cpu/transfer.h"
#include "inference/pixel_math.h"
#include "inference/vector_clones.h"

namespace matte {
namespace {

/// What each point of a plane takes in memory: 8 floats at a time are summed quickest.
constexpr int kModel = 5, kMomentStride = 16, kModelStride = 8, kColorStride = 8;

// The loops below are over points, each with so little around it that the compiler makes vectors of several points.

/// `guide` [count, 3] and `alpha` [count] -> [count, kMomentStride].
MATTE_EXACT_CLONES void momentsRow(const float* __restrict guide,
                                   const float* __restrict alpha,
                                   int count,
                                   float* __restrict moments) {
    for (int i = 0; i < count; ++i) {
        float m[kMoments];
        windowMoments(guide + std::ptrdiff_t(3) * i, alpha[i], m);
        for (int c = 0; c < kMoments; ++c) moments[kMomentStride * i + c] = m[c];
        moments[kMomentStride * i + kMoments] = 0;
    }
}

/// Means of moments [count, kMomentStride] -> models [count, kModelStride].
MATTE_EXACT_CLONES void solveRow(const float* __restrict moments, int count, float* __restrict models) {
    for (int i = 0; i < count; ++i) {
        float model[kModel];
        solveWindow(moments + std::ptrdiff_t(kMomentStride) * i, model);
        for (int c = 0; c < kModelStride; ++c) models[kModelStride * i + c] = c < kModel ? model[c] : 0.0F;
    }
}

/// What the next window sums up at each point -> [count, kColorStride]: the person's colour times alpha (3), the
/// background's times 1 - alpha (3), alpha and 1 - alpha. `means` are both sides' mean colours so far, the person's
/// (3), the background's (3), `step` floats apart.
[[gnu::always_inline]] inline void weigh(const float* __restrict linear,
                                         const float* __restrict alpha,
                                         const float* __restrict means,
                                         int step,
                                         int count,
                                         float* __restrict sums) {
    for (int i = 0; i < count; ++i) {
        const float *mean = means + std::ptrdiff_t(step) * i, *color = linear + std::ptrdiff_t(3) * i;
        float* out = sums + std::ptrdiff_t(kColorStride) * i;
        const float a = alpha[i];
        for (int c = 0; c < 3; ++c) {
            out[c] = foregroundColor(color[c], a, mean[c], mean[3 + c]) * a;
            out[3 + c] = backgroundColor(color[c], a, mean[c], mean[3 + c]) * (1 - a);
        }
        out[6] = a;
        out[7] = 1 - a;
    }
}
MATTE_EXACT_CLONES void weighRow(const float* linear, const float* alpha, const float* means, int count, float* sums) {
    weigh(linear, alpha, means, kColorStride, count, sums);
}
/// The same means everywhere.
MATTE_EXACT_CLONES void weighRowByOne(
    const float* linear, const float* alpha, const float* mean, int count, float* sums) {
    weigh(linear, alpha, mean, 0, count, sums);
}

/// The mean colours in a window, from its sums and those of the wider one -> the first 6 of each `stride` floats.
[[gnu::always_inline]] inline void divide(const float* __restrict sums,
                                          const float* __restrict wider,
                                          int step,
                                          int count,
                                          float* __restrict means,
                                          int stride) {
    for (int i = 0; i < count; ++i) {
        const float *s = sums + std::ptrdiff_t(kColorStride) * i, *mean = wider + std::ptrdiff_t(step) * i;
        float* out = means + std::ptrdiff_t(stride) * i;
        for (int c = 0; c < 3; ++c) {
            out[c] = sideColor(s[c], s[6], mean[c]);
            out[3 + c] = sideColor(s[3 + c], s[7], mean[3 + c]);
        }
    }
}
MATTE_EXACT_CLONES void meansRowByOne(const float* sums, const float* mean, int count, float* means) {
    divide(sums, mean, 0, count, means, kColorStride);
}
/// Into the field.
MATTE_EXACT_CLONES void fieldRow(const float* sums, const float* wider, int count, float* field) {
    divide(sums, wider, kColorStride, count, field + field::kForeground, field::kChannels);
}

}  // namespace

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
    const int radius = guidedRadius(guide.size.longest(), alpha.size.longest());
    const int width = guide.size.width, height = guide.size.height;
    Planes& moments = scratch.moments;
    reshape(moments, guide.size, kMomentStride);
#pragma omp parallel for schedule(static)
    for (int y = 0; y < height; ++y) momentsRow(guide.row(y), target.row(y), width, moments.row(y));
    boxMeansInDouble(moments, radius, 1, scratch.across);
    Planes& models = scratch.models;
    reshape(models, guide.size, kModelStride);
#pragma omp parallel for schedule(static)
    for (int y = 0; y < height; ++y) solveRow(moments.row(y), width, models.row(y));
    boxMeans(models, radius, 1, scratch.across);
    const auto pixels = std::ptrdiff_t(guide.size.pixels());
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t i = 0; i < pixels; ++i) {
        // Where colour does not explain the matte, the network's own word stands.
        const float* model = models.values.data() + i * kModelStride;
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
    const int longest = alpha.size.longest(), width = alpha.size.width, height = alpha.size.height;
    Planes &sums = scratch.sums, &wider = scratch.wider;
    reshape(sums, alpha.size, kColorStride);
    reshape(wider, alpha.size, kColorStride);
    float whole[6];
    wholeColors(linear, alpha, whole);
#pragma omp parallel for schedule(static)
    for (int y = 0; y < height; ++y) weighRowByOne(linear.row(y), alpha.row(y), whole, width, sums.row(y));
    boxMeans(sums, wideColorRadius(longest), 1, scratch.across);
#pragma omp parallel for schedule(static)
    for (int y = 0; y < height; ++y) {
        meansRowByOne(sums.row(y), whole, width, wider.row(y));
        weighRow(linear.row(y), alpha.row(y), wider.row(y), width, sums.row(y));
    }
    boxMeans(sums, narrowColorRadius(longest), 1, scratch.across);
    // The composite starts from the means: it corrects them with the full picture's own pixel.
#pragma omp parallel for schedule(static)
    for (int y = 0; y < height; ++y) fieldRow(sums.row(y), wider.row(y), width, fields.row(y));
}

void blurBackground(const Planes& linear, const Planes& alpha, float sigma, Planes& fields, RefineScratch& scratch) {
    const auto pixels = std::ptrdiff_t(alpha.size.pixels());
    Planes& sums = scratch.sums;
    reshape(sums, alpha.size, 4);
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t i = 0; i < pixels; ++i) {
        const float weight = roomShare(alpha.values[i]);
        for (int c = 0; c < 3; ++c) sums.values[i * 4 + c] = linear.values[i * 3 + c] * weight;
        sums.values[i * 4 + 3] = weight;
    }
    boxMeans(sums, blurRadius(sigma), 3, scratch.across);
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
    boxMeans(light, wrapRadius(alpha.size.longest()), 2, scratch.across);
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
