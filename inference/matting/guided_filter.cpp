// SPDX-License-Identifier: Apache-2.0
#include "inference/matting/guided_filter.h"

#include <algorithm>
#include <cmath>

#include "inference/core/parallel.h"
#include "inference/core/pixel_math.h"
#include "inference/core/vector_clones.h"
#include "inference/matting/box_filter.h"
#include "inference/matting/transfer.h"

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
/// Into the coefficients.
MATTE_EXACT_CLONES void guidedRow(const float* sums, const float* wider, int count, float* guided) {
    divide(sums, wider, kColorStride, count, guided + guided::kForeground, guided::kChannels);
}

}  // namespace

void toLinear(const Planes& encoded, Planes& linear) {
    reshape(linear, encoded.size, encoded.channels);
    const Transfer& tables = transfer();
    parallelEach(encoded.size.height, [&](int y) {
        const float* in = encoded.row(y);
        float* out = linear.row(y);
        for (int i = 0; i < encoded.size.width * encoded.channels; ++i) out[i] = tables.linearOf(in[i]);
    });
}

void fitGuidedFilter(const Planes& guide, const Planes& alpha, Planes& guided, RefineScratch& scratch) {
    scratch.enlarge.resample(alpha, guide.size, scratch.target);
    const Planes& target = scratch.target;
    const int radius = guidedRadius(guide.size.longest(), alpha.size.longest());
    const int width = guide.size.width, height = guide.size.height;
    Planes& moments = scratch.moments;
    reshape(moments, guide.size, kMomentStride);
    parallelEach(height, [&](int y) { momentsRow(guide.row(y), target.row(y), width, moments.row(y)); });
    boxMeansInDouble(moments, radius, 1, scratch.across);
    Planes& models = scratch.models;
    reshape(models, guide.size, kModelStride);
    parallelEach(height, [&](int y) { solveRow(moments.row(y), width, models.row(y)); });
    boxMeans(models, radius, 1, scratch.across);
    parallelEach(height, [&](int y) {
        const float *model = models.row(y), *wanted = target.row(y);
        float* out = guided.row(y);
        for (int x = 0; x < width; ++x, model += kModelStride, out += guided::kChannels) {
            // Where colour does not explain the matte, keep the network's alpha.
            std::copy_n(model, 3, out);
            out[3] = model[3] + (1 - model[4]) * wanted[x];
        }
    });
}

void evaluateAlpha(const Planes& guide, const Planes& guided, Planes& alpha) {
    reshape(alpha, guide.size, 1);
    parallelEach(guide.size.height, [&](int y) {
        const float *c = guided.row(y), *color = guide.row(y);
        float* out = alpha.row(y);
        for (int x = 0; x < guide.size.width; ++x, c += guided::kChannels, color += 3) {
            out[x] = clampUnit(c[0] * color[0] + c[1] * color[1] + c[2] * color[2] + c[3]);
        }
    });
}

namespace {

/// Both sides' mean colours in the whole picture: what the widest window would find everywhere.
void wholeColors(const Planes& linear, const Planes& alpha, std::vector<ColorSums>& rows, float* mean) {
    rows.resize(std::size_t(alpha.size.height));
    parallelEach(alpha.size.height, [&](int y) {
        ColorSums& sums = rows[std::size_t(y)] = {};
        const float *a = alpha.row(y), *color = linear.row(y);
        for (int x = 0; x < alpha.size.width; ++x, color += 3) {
            for (int c = 0; c < 3; ++c) {
                sums.weighted[c] += a[x] * color[c];
                sums.all[c] += color[c];
            }
            sums.person += a[x];
        }
    });
    double weighted[3] = {}, all[3] = {}, person = 0;  // summed in the rows' order, however many threads there are
    for (const ColorSums& sums : rows) {
        for (int c = 0; c < 3; ++c) {
            weighted[c] += sums.weighted[c];
            all[c] += sums.all[c];
        }
        person += sums.person;
    }
    const auto count = double(alpha.size.pixels());
    for (int c = 0; c < 3; ++c) {
        mean[c] = sideColor(float(weighted[c] / count), float(person / count), 0);
        mean[3 + c] = sideColor(float((all[c] - weighted[c]) / count), float(1 - person / count), 0);
    }
}

}  // namespace

void estimateColors(const Planes& linear, const Planes& alpha, Planes& guided, RefineScratch& scratch) {
    const int longest = alpha.size.longest(), width = alpha.size.width, height = alpha.size.height;
    Planes &sums = scratch.sums, &wider = scratch.wider;
    reshape(sums, alpha.size, kColorStride);
    reshape(wider, alpha.size, kColorStride);
    float whole[6];
    wholeColors(linear, alpha, scratch.rows, whole);
    parallelEach(height, [&](int y) { weighRowByOne(linear.row(y), alpha.row(y), whole, width, sums.row(y)); });
    boxMeans(sums, wideColorRadius(longest), 1, scratch.across);
    parallelEach(height, [&](int y) {
        meansRowByOne(sums.row(y), whole, width, wider.row(y));
        weighRow(linear.row(y), alpha.row(y), wider.row(y), width, sums.row(y));
    });
    boxMeans(sums, narrowColorRadius(longest), 1, scratch.across);
    // The composite starts from the means: it corrects them with the full picture's own pixel.
    parallelEach(height, [&](int y) { guidedRow(sums.row(y), wider.row(y), width, guided.row(y)); });
}

void blurBackground(const Planes& linear, const Planes& alpha, int radius, Planes& guided, RefineScratch& scratch) {
    const int width = alpha.size.width, height = alpha.size.height;
    Planes& sums = scratch.sums;
    reshape(sums, alpha.size, 4);
    parallelEach(height, [&](int y) {
        const float *a = alpha.row(y), *color = linear.row(y);
        float* out = sums.row(y);
        for (int x = 0; x < width; ++x, color += 3, out += 4) {
            const float weight = roomShare(a[x]);
            for (int c = 0; c < 3; ++c) out[c] = color[c] * weight;
            out[3] = weight;
        }
    });
    boxMeans(sums, radius, 3, scratch.across);
    parallelEach(height, [&](int y) {
        const float* s = sums.row(y);
        float* out = guided.row(y);
        for (int x = 0; x < width; ++x, s += 4, out += guided::kChannels) {
            for (int c = 0; c < 3; ++c) {
                out[guided::kBlurred + c] = blurredColor(s[c], s[3], out[guided::kBackground + c]);
            }
        }
    });
}

void wrapLight(
    const Planes& alpha, const ResolvedParams& params, const Image* plate, Planes& guided, RefineScratch& scratch) {
    Planes& light = scratch.sums;
    reshape(light, alpha.size, 4);
    const int width = alpha.size.width, height = alpha.size.height;
    const InverseMapping& mapping = params.mapping;
    parallelEach(height, [&](int y) {
        const float* at = guided.row(y);
        float* out = light.row(y);
        for (int x = 0; x < width; ++x, out += 4, at += guided::kChannels) {
            const float* color = params.isBlurred() ? at + guided::kBlurred : params.color;
            float shown[3];
            if (plate) {
                const Size frame = plate->size();
                const std::uint8_t* pixel =
                    plate->row(shownAt(mapping.perY, mapping.fromY, y, height, frame.height)) +
                    std::ptrdiff_t(4) * shownAt(mapping.perX, mapping.fromX, x, width, frame.width);
                for (int c = 0; c < 3; ++c) shown[c] = transfer().linear[pixel[c]];
                color = shown;
            }
            for (int c = 0; c < 3; ++c) out[c] = color[c] * (1 - alpha.row(y)[x]);
            out[3] = 0;
        }
    });
    boxMeans(light, wrapRadius(alpha.size.longest()), 2, scratch.across);
    parallelEach(height, [&](int y) {
        for (int x = 0; x < width; ++x) {
            std::copy_n(light.row(y) + std::ptrdiff_t(4) * x, 3,
                        guided.row(y) + std::ptrdiff_t(x) * guided::kChannels + guided::kWrap);
        }
    });
}

}  // namespace matte
