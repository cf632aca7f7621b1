// SPDX-License-Identifier: Apache-2.0
// The formulas of the picture, one definition for every engine. Plain inline functions for one value; any thread, host
// and device.
#pragma once

#include <cmath>

#if defined(__CUDACC__)
#define MATTE_HOST_DEVICE __host__ __device__
#else
#define MATTE_HOST_DEVICE
#endif

namespace matte {

MATTE_HOST_DEVICE inline float power(float base, float exponent) {
#if defined(__CUDA_ARCH__)
    return __powf(base, exponent);  // a relative error of 1e-6 is nothing beside 8 bits, and many times as fast
#else
    return powf(base, exponent);
#endif
}

/// sRGB's transfer functions (IEC 61966-2-1); both sides 0 to 1.
MATTE_HOST_DEVICE inline float srgbToLinear(float encoded) {
    return encoded <= 0.04045F ? encoded / 12.92F : power((encoded + 0.055F) / 1.055F, 2.4F);
}
MATTE_HOST_DEVICE inline float linearToSrgb(float linear) {
    return linear <= 0.0031308F ? linear * 12.92F : 1.055F * power(linear, 1.0F / 2.4F) - 0.055F;
}

/// One value for each channel.
struct Color {
    float r, g, b;
};
/// sRGB, 0 to 255, from studio-range Y, U, V bytes by ITU-R BT.601, as cameras send them.
MATTE_HOST_DEVICE inline Color yuvToRgb(float y, float u, float v) {
    const float light = 1.164384F * (y - 16);
    return {light + 1.596027F * (v - 128), light - 0.391762F * (u - 128) - 0.812968F * (v - 128),
            light + 2.017232F * (u - 128)};
}

MATTE_HOST_DEVICE inline float clampUnit(float value) {
    return value < 0 ? 0.0F : value > 1 ? 1.0F : value;
}

/// The span of the matte's alpha that becomes 0 to 1: alpha below `low` is background, above `high` person.
struct Edge {
    float low = 0, high = 1;
};

/// So near to 0 or 1 a matte is certain: what lies below it is less than a level of 255, and where all
/// of a cell is certain the composite need not look at its pixels.
constexpr float kCertain = 1.0F / 256;

/// Threshold and softness (both 0 to 1) as an Edge. The span never leaves kCertain to 1 - kCertain, so that a matte of
/// 0 stays 0 and of 1 stays 1 wherever the threshold is: with a wider span a moved threshold would let the old
/// background through everywhere.
MATTE_HOST_DEVICE inline Edge edgeOf(float threshold, float softness) {
    const float middle = 0.02F + 0.96F * clampUnit(threshold);
    const float half = 0.5F * (0.02F + 0.98F * clampUnit(softness));
    Edge edge;
    edge.low = middle - half < kCertain ? kCertain : middle - half;
    edge.high = middle + half > 1 - kCertain ? 1 - kCertain : middle + half;
    return edge;
}

MATTE_HOST_DEVICE inline float shapeAlpha(float alpha, Edge edge) {
    return clampUnit((alpha - edge.low) / (edge.high - edge.low));
}

/// The person's own colour at a pixel whose colour is `mixed`, from the local means of both sides (all linear light,
/// one channel): Forte, "Approximate Fast Foreground Colour Estimation", ICIP 2021, equation 5.
MATTE_HOST_DEVICE inline float foregroundColor(float mixed, float alpha, float foreground, float background) {
    return clampUnit(foreground + alpha * (mixed - alpha * foreground - (1 - alpha) * background));
}

/// The background's own colour there, by the same equation with the sides' parts changed.
MATTE_HOST_DEVICE inline float backgroundColor(float mixed, float alpha, float foreground, float background) {
    return clampUnit(background + (1 - alpha) * (mixed - alpha * foreground - (1 - alpha) * background));
}

/// The alpha to give foregroundColor(): the larger of the one that the network found and the one that is shown, which
/// shapeAlpha() made of it. With an alpha of 1 foregroundColor() gives the pixel's own colour, and a pixel that is
/// shown whole has that colour, too. So the colour goes over into the pixel's own as `shown` nears 1; with `found`
/// alone it would jump there, and two pixels that hardly differ would look different.
MATTE_HOST_DEVICE inline float ownShare(float found, float shown) {
    return found > shown ? found : shown;
}

/// Weight of the wider window's colour, so that a window without any of one side takes that side's colour from farther
/// away.
constexpr float kFromFarther = 1e-3F;

/// Mean colour (one channel) of one side, from its window's mean `weighted` by that side's share and the mean `share`
/// itself; `farther` is the wider window's.
MATTE_HOST_DEVICE inline float sideColor(float weighted, float share, float farther) {
    return (weighted + kFromFarther * farther) / (share + kFromFarther);
}

/// Radii of the two narrower windows of the colours, on a grid whose longest side is `longest`; the widest is the whole
/// picture.
MATTE_HOST_DEVICE inline int wideColorRadius(int longest) {
    return longest / 12 > 2 ? longest / 12 : 2;
}
MATTE_HOST_DEVICE inline int narrowColorRadius(int longest) {
    return longest / 128 > 1 ? longest / 128 : 1;
}

MATTE_HOST_DEVICE inline float mix(float from, float to, float amount) {
    return from + (to - from) * amount;
}

/// Standard deviation of the background blur for a strength of 1 to 100, in pixels of a grid whose longest side is
/// `longest`.
inline float blurSigma(float strength, int longest) {
    const float sigma = 0.0004F * strength * float(longest);
    return sigma > 0.5F ? sigma : 0.5F;
}

/// Radius of each of three box filters that together come close to a Gaussian of `sigma`: their variances add up.
inline int blurRadius(float sigma) {
    const long radius = std::lround((std::sqrt(4 * sigma * sigma + 1) - 1) / 2);
    return radius > 1 ? int(radius) : 1;
}

/// How much a pixel tells of the room's colour for the blur, 0 to 1. One that is the person's by more than half tells
/// nothing: a matte is seldom wholly sure, and where nothing else is near, a hundredth of the person would be a ghost
/// in the room, which is seen once the person is moved.
MATTE_HOST_DEVICE inline float roomShare(float alpha) {
    return clampUnit(1 - 2 * alpha);
}

/// The background's blurred colour (one channel) from the means over the window. Deep inside the person no background
/// is near: the side's own colour, `wide`, fills in there.
MATTE_HOST_DEVICE inline float blurredColor(float weighted, float share, float wide) {
    constexpr float kFill = 0.01F;
    return (weighted + kFill * wide) / (share + kFill);
}

/// Weighted moments of one window of the guided filter: the weight, colour (3), colour products (6), alpha, colour
/// times alpha (3), alpha squared.
constexpr int kMoments = 15;

/// Below this squared contrast (of 0 to 1) a window counts as flat and alpha is not explained by colour there.
constexpr float kFlatness = 1e-4F;

/// Radius of that window on a grid: it must see both sides of an edge that the network placed a pixel off.
inline int guidedRadius(int gridLongest, int networkLongest) {
    constexpr float kWindow = 2;  // half the window in the network's pixels
    const long radius = std::lround(kWindow * float(gridLongest) / float(networkLongest));
    return radius > 2 ? int(radius) : 2;
}

/// One pixel's part in the moments; `color` is sRGB-encoded.
MATTE_HOST_DEVICE inline void windowMoments(const float* color, float alpha, float* m) {
    // The network is unsure just where the edge is to be found, so the sure pixels on both sides tell which colours are
    // whose.
    constexpr float kUnsure = 0.05F;  // the weight of a pixel of alpha 0.5, beside 1 for a sure one
    const float weight = kUnsure + (2 * alpha - 1) * (2 * alpha - 1);
    m[0] = weight;
    for (int c = 0; c < 3; ++c) m[1 + c] = weight * color[c];
    m[4] = weight * color[0] * color[0];
    m[5] = weight * color[0] * color[1];
    m[6] = weight * color[0] * color[2];
    m[7] = weight * color[1] * color[1];
    m[8] = weight * color[1] * color[2];
    m[9] = weight * color[2] * color[2];
    m[10] = weight * alpha;
    for (int c = 0; c < 3; ++c) m[11 + c] = weight * color[c] * alpha;
    m[14] = weight * alpha * alpha;
}

/// Weighted regression of alpha on colour in one window: the symmetric 3x3 system (covariance + flatness) a =
/// covariance with alpha. Writes the model a, b times the share of alpha's variance that it explains, and that share.
MATTE_HOST_DEVICE inline void solveWindow(const float* sums, float* out) {
    float m[kMoments];
    for (int i = 0; i < kMoments; ++i) m[i] = sums[i] / sums[0];
    const float *mean = m + 1, *square = m + 4, *with = m + 11;
    const float rr = square[0] - mean[0] * mean[0] + kFlatness, rg = square[1] - mean[0] * mean[1];
    const float rb = square[2] - mean[0] * mean[2], gg = square[3] - mean[1] * mean[1] + kFlatness;
    const float gb = square[4] - mean[1] * mean[2], bb = square[5] - mean[2] * mean[2] + kFlatness;
    const float p = m[10], variance = m[14] - p * p;
    const float pr = with[0] - mean[0] * p, pg = with[1] - mean[1] * p, pb = with[2] - mean[2] * p;
    const float crr = gg * bb - gb * gb, crg = gb * rb - rg * bb, crb = rg * gb - gg * rb;
    const float cgg = rr * bb - rb * rb, cgb = rg * rb - rr * gb, cbb = rr * gg - rg * rg;
    const float determinant = rr * crr + rg * crg + rb * crb;
    const float scale = determinant > 0 ? 1 / determinant : 0.0F;
    const float a[3] = {(crr * pr + crg * pg + crb * pb) * scale, (crg * pr + cgg * pg + cgb * pb) * scale,
                        (crb * pr + cgb * pg + cbb * pb) * scale};
    const float explained = a[0] * pr + a[1] * pg + a[2] * pb;
    // Without a jump at any variance: engines that round differently must not land on two sides of one.
    const float share = clampUnit(explained / (variance + kFlatness));
    for (int c = 0; c < 3; ++c) out[c] = share * a[c];
    out[3] = share * (p - a[0] * mean[0] - a[1] * mean[1] - a[2] * mean[2]);
    out[4] = share;
}

/// Weights of the blur, a Gaussian of 2 pixels, that takes a camera's noise out of the colours in which motion is
/// looked for: of the pixel itself, of each of its two neighbours along one axis, and so on.
constexpr int kMotionBlurRadius = 4;
MATTE_HOST_DEVICE inline float motionBlurWeight(int distance) {
    constexpr float kWeights[kMotionBlurRadius + 1] = {0.204164F, 0.180174F, 0.123832F, 0.066282F, 0.027630F};
    return kWeights[distance];
}

/// A reference colour below 0: nothing is remembered of this pixel.
constexpr float kForgotten = -1;

/// How much a pixel moved, 0 to 1, from its blurred colour (sRGB-encoded) and that of the frames that its filtered
/// alpha belongs to. The channel that changed most counts: a red sleeve before a green wall may be as light as that.
MATTE_HOST_DEVICE inline float motionOf(const float* color, const float* reference) {
    if (reference[0] < 0) return 1;
    const float r = fabsf(color[0] - reference[0]), g = fabsf(color[1] - reference[1]);
    const float b = fabsf(color[2] - reference[2]), larger = r > g ? r : g;
    return larger > b ? larger : b;
}

/// Motion counts for the pixels around, too: an edge moves ahead of what it leaves.
constexpr int kMotionReach = 1;
/// Of a frame in which more than this share of the pixels moved by more than kCutMotion, nothing before counts.
constexpr float kCutShare = 0.6F, kCutMotion = 16.0F / 255;

/// Which share of the way from its filtered alpha to the network's a pixel goes in one frame, 0 to 1: little where
/// nothing moved, all of it where something did, and in between without a jump. `motion` is the largest one nearby and
/// `change` how far alpha wants to go, up or down. Temporal smoothing 0 always goes all the way.
MATTE_HOST_DEVICE inline float followRate(float motion, float change, float temporalSmoothing) {
    constexpr float kStill = 3.0F / 255, kMoved = 8.0F / 255;
    const float slowest = 1 - 0.95F * clampUnit(temporalSmoothing) * (2 - clampUnit(temporalSmoothing));
    // What wants to change more needs less motion to do so: where alpha is to change by a tenth, a tenth of the motion
    // will do. With less eagerness the dim edges of somebody who moves trail behind; with more, flicker comes through
    // wherever a camera's noise is.
    constexpr float kEager = 100;
    // Who comes needs down to a fourth of the motion that who goes needs: at the edges of somebody who moves the
    // network finds too little of the person rather than too much, and what is held back there is missing. A rise of
    // less than half a step of 8 bits, which nobody sees, counts in part, so that there is no jump between up and down.
    constexpr float kSooner = 3, kSeen = 0.5F / 255;
    const float eager = 1 + kSooner * clampUnit(change / kSeen) + kEager * fabsf(change);
    const float moved = clampUnit((motion * eager - kStill) / (kMoved - kStill));
    return slowest + (1 - slowest) * moved * moved * (3 - 2 * moved);
}

/// `from` a share of the way `to`; exactly `to` at the end.
MATTE_HOST_DEVICE inline float follow(float from, float to, float rate) {
    return rate >= 1 ? to : from + rate * (to - from);
}

/// What stays of a pixel's `filtered` alpha where the network's is `wanted`. Where it finds nobody, to less than a step
/// of 8 bits, a dim rest goes at once, moved or not: it would be a trail. Half a person and more is held all the same,
/// so that nobody blinks whom the network misses for a frame.
MATTE_HOST_DEVICE inline float fadeOut(float filtered, float wanted) {
    constexpr float kNobody = 1.0F / 255, kDim = 0.25F;
    return follow(filtered, wanted, clampUnit(1 - wanted / kNobody) * clampUnit(2 - filtered / kDim));
}

/// A pixel of more alpha belongs to somebody; those that touch, also corner to corner, are one part of the matte.
constexpr float kSomebody = 0.5F;

/// What a pixel adds to how much room its part takes: more in the middle and at the bottom, where the one sits who
/// called, and more where the part that stayed in the frame before was, so that two people don't take turns.
MATTE_HOST_DEVICE inline unsigned roomOf(int x, int y, int width, int height, bool stayed) {
    const float aside = fabsf(2 * (float(x) + 0.5F) / float(width) - 1), down = (float(y) + 0.5F) / float(height);
    return unsigned(64 * (1 - 0.5F * aside) * (0.5F + 0.5F * down)) * (stayed ? 3U : 2U);
}

/// Whether a part of `pixels` is a small region, in a frame of `all` pixels: beside the largest part, or whatever there
/// is else, for where nobody is the largest part is a mistake too.
MATTE_HOST_DEVICE inline bool isSmallRegion(unsigned pixels, unsigned largest, unsigned all) {
    const float share = float(pixels) / float(all);
    return share < 0.002F || (share < 0.01F && float(pixels) < 0.04F * float(largest));
}

/// How far around a part that goes its soft surroundings go with it, in pixels of a matte whose longest side is
/// `longest`.
constexpr int kMostSurroundings = 24;
MATTE_HOST_DEVICE inline int surroundings(int longest) {
    return longest / 32 < 4 ? 4 : longest / 32 > kMostSurroundings ? kMostSurroundings : longest / 32;
}

/// What stays of alpha, 0 to 1, at a pixel `toStaying` and `toGoing` pixels away from the next parts that stay and that
/// go; both at most `reach`, surroundings(). Each pixel goes with the nearer part, with a feather between them.
MATTE_HOST_DEVICE inline float stayingShare(float toStaying, float toGoing, int reach) {
    const float feather = 0.25F * float(reach), far = 0.75F * float(reach);
    const float ahead = toGoing - (toStaying < far ? toStaying : far);
    return clampUnit(0.5F + 0.5F * ahead / feather);
}

/// Radius of each of two box filters of the light that wraps the person, on a grid whose longest side is `longest`.
MATTE_HOST_DEVICE inline int wrapRadius(int longest) {
    return longest / 48 > 1 ? longest / 48 : 1;
}

/// The person's colour with the new background's light on it (linear, one channel): `light` is the background nearby,
/// times how much of the neighbourhood it is. Brightens toward white and never beyond.
MATTE_HOST_DEVICE inline float wrapped(float color, float light, float strength) {
    return color + strength * light * (1 - color);
}

/// A sum of three channels' light that nobody sees.
constexpr float kNoLight = 1e-4F;

/// Where the person stands: a place in the frame, in widths and heights from 0 to 1, shows what was seen at perX * x +
/// fromX and perY * y + fromY.
struct InverseMapping {
    float perX = 1, fromX = 0, perY = 1, fromY = 0;
    bool operator==(const InverseMapping&) const = default;
};

/// As SubjectTransform has it: mirrored, larger by `scale` about the middle of the lower edge, then moved.
MATTE_HOST_DEVICE inline InverseMapping inverseMapping(bool mirrored, float scale, float x, float y) {
    InverseMapping mapping;
    mapping.perX = (mirrored ? -1 : 1) / scale;
    mapping.fromX = 0.5F - (0.5F + x) * mapping.perX;
    mapping.perY = 1 / scale;
    mapping.fromY = 1 - (1 + y) * mapping.perY;
    return mapping;
}

/// The pixel, of `pixels` along an axis, whose middle is shown at output pixel `at`; not a whole number, and outside 0
/// to pixels - 1 when nothing was seen there.
MATTE_HOST_DEVICE inline float seenAt(float per, float from, int at, int pixels) {
    return per * (float(at) + 0.5F) + (from * float(pixels) - 0.5F);
}

/// Whether something was seen there; with some slack, so that a frame's edge does not depend on how an engine rounds.
MATTE_HOST_DEVICE inline bool isSeen(float at, int pixels) {
    return at > -0.501F && at < float(pixels) - 0.499F;
}

/// The other way round: which of `outputs` pixels along an axis shows the middle of point `at` of `points`; cut to the
/// frame.
MATTE_HOST_DEVICE inline int shownAt(float per, float from, int at, int points, int outputs) {
    const float shown = ((float(at) + 0.5F) / float(points) - from) / per * float(outputs);
    return shown < 0 ? 0 : shown >= float(outputs) ? outputs - 1 : int(shown);
}

}  // namespace matte
