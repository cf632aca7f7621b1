// SPDX-License-Identifier: Apache-2.0
// Per-pixel formulas, defined once for every engine. Plain inline functions; any thread, host and device.
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
    return __powf(base, exponent);  // many times faster; its relative error of 1e-6 is negligible at 8 bits
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

struct Color {
    float r, g, b;
};
/// sRGB, 0 to 255, from a camera's studio-range Y, U, V bytes (ITU-R BT.601).
MATTE_HOST_DEVICE inline Color yuvToRgb(float y, float u, float v) {
    const float light = 1.164384F * (y - 16);
    return {light + 1.596027F * (v - 128), light - 0.391762F * (u - 128) - 0.812968F * (v - 128),
            light + 2.017232F * (u - 128)};
}

MATTE_HOST_DEVICE inline float clampUnit(float value) {
    return value < 0 ? 0.0F : value > 1 ? 1.0F : value;
}

/// The interval of the matte's alpha that is stretched to 0 to 1: below `low` is background, above `high` the person.
struct Edge {
    float low = 0, high = 1;
};

/// Alpha this close to 0 or 1 counts as certain: the difference is less than one level of 255. Where a whole cell is
/// certain, the composite skips the mixing.
constexpr float kCertain = 1.0F / 256;

/// The Edge for a threshold and a softness, both 0 to 1. The interval stays within kCertain to 1 - kCertain, so that
/// alpha 0 stays 0 and alpha 1 stays 1 at any threshold; otherwise the old background would show through everywhere.
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

/// The foreground's colour at a pixel of colour `mixed`, from the local means of foreground and background (one
/// channel, linear light). Forte, "Approximate Fast Foreground Colour Estimation", ICIP 2021, equation 5.
MATTE_HOST_DEVICE inline float foregroundColor(float mixed, float alpha, float foreground, float background) {
    return clampUnit(foreground + alpha * (mixed - alpha * foreground - (1 - alpha) * background));
}

/// The background's colour there, by the same equation with the roles exchanged.
MATTE_HOST_DEVICE inline float backgroundColor(float mixed, float alpha, float foreground, float background) {
    return clampUnit(background + (1 - alpha) * (mixed - alpha * foreground - (1 - alpha) * background));
}

/// The alpha for foregroundColor(): the larger of the matte's alpha (`found`) and the alpha after shapeAlpha()
/// (`shown`). At alpha 1 foregroundColor() returns the pixel's own colour, which is also the colour of a fully opaque
/// pixel. The colour is therefore continuous as `shown` approaches 1; with `found` alone it would jump there.
MATTE_HOST_DEVICE inline float ownShare(float found, float shown) {
    return found > shown ? found : shown;
}

/// Weight of the wider window's colour: a window that contains nothing of one side takes that side's colour from there.
constexpr float kFromFarther = 1e-3F;

/// Mean colour (one channel) of one side: `weighted` is the window's mean of colour times that side's share, `share`
/// the mean share, and `farther` the colour found in the wider window.
MATTE_HOST_DEVICE inline float sideColor(float weighted, float share, float farther) {
    return (weighted + kFromFarther * farther) / (share + kFromFarther);
}

/// Radii of the two smaller windows of the colour estimate, on a grid whose longest side is `longest`; the largest
/// window is the whole picture.
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

/// Radius of each of three box filters that together approximate a Gaussian of `sigma`: their variances add up.
inline int blurRadius(float sigma) {
    const long radius = std::lround((std::sqrt(4 * sigma * sigma + 1) - 1) / 2);
    return radius > 1 ? int(radius) : 1;
}

/// Weight of a pixel in the background blur, 0 to 1. A pixel with alpha above a half has none: a matte is rarely exact,
/// and where no other background is near, even 1% of the person would leave a visible ghost once the person is moved.
MATTE_HOST_DEVICE inline float roomShare(float alpha) {
    return clampUnit(1 - 2 * alpha);
}

/// The blurred background's colour (one channel) from the window's means. Deep inside the person, where no background
/// is near, the background's local colour `wide` fills in.
MATTE_HOST_DEVICE inline float blurredColor(float weighted, float share, float wide) {
    constexpr float kFill = 0.01F;
    return (weighted + kFill * wide) / (share + kFill);
}

/// Number of weighted moments of a guided-filter window: weight, colour (3), colour products (6), alpha, colour times
/// alpha (3), alpha squared.
constexpr int kMoments = 15;

/// The guided filter's regularisation (its epsilon): a window whose colour variance is far below this is flat, and
/// colour does not explain alpha there.
constexpr float kFlatness = 1e-4F;

/// Radius of that window on a grid: it must contain both sides of an edge that the network misplaced by a pixel.
inline int guidedRadius(int gridLongest, int networkLongest) {
    constexpr float kWindow = 2;  // half the window in the network's pixels
    const long radius = std::lround(kWindow * float(gridLongest) / float(networkLongest));
    return radius > 2 ? int(radius) : 2;
}

/// One pixel's moments m[kMoments]; `color` is sRGB-encoded.
MATTE_HOST_DEVICE inline void windowMoments(const float* color, float alpha, float* m) {
    // The network is uncertain right at the edge, so the certain pixels on both sides define the colours.
    constexpr float kUnsure = 0.05F;  // weight at alpha 0.5, where alpha 0 and 1 have about 1
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

/// Weighted linear regression of alpha on colour in one window: the symmetric 3x3 system (covariance + kFlatness I) a =
/// covariance with alpha. Writes out[0..3] = (a, b) times the explained share of alpha's variance, out[4] = that share.
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
    // Continuous at every variance, so that engines with different rounding agree.
    const float share = clampUnit(explained / (variance + kFlatness));
    for (int c = 0; c < 3; ++c) out[c] = share * a[c];
    out[3] = share * (p - a[0] * mean[0] - a[1] * mean[1] - a[2] * mean[2]);
    out[4] = share;
}

/// Weights by distance of the Gaussian, sigma 2 pixels, that removes camera noise from the colours before motion is
/// measured.
constexpr int kMotionBlurRadius = 4;
MATTE_HOST_DEVICE inline float motionBlurWeight(int distance) {
    constexpr float kWeights[kMotionBlurRadius + 1] = {0.204164F, 0.180174F, 0.123832F, 0.066282F, 0.027630F};
    return kWeights[distance];
}

/// Marks a reference colour as unset: the pixel has no history.
constexpr float kForgotten = -1;

/// Motion of a pixel, 0 to 1: the difference between its blurred colour and the reference colour of its filtered alpha
/// (sRGB-encoded). Takes the channel that changed most: a red sleeve and a green wall may have equal luminance.
MATTE_HOST_DEVICE inline float motionOf(const float* color, const float* reference) {
    if (reference[0] < 0) return 1;
    const float r = fabsf(color[0] - reference[0]), g = fabsf(color[1] - reference[1]);
    const float b = fabsf(color[2] - reference[2]), larger = r > g ? r : g;
    return larger > b ? larger : b;
}

/// Motion is dilated by this radius in pixels: an edge moves ahead of the area that it uncovers.
constexpr int kMotionReach = 1;
/// A frame in which more than kCutShare of the pixels moved by more than kCutMotion is a cut: the history is discarded.
constexpr float kCutShare = 0.6F, kCutMotion = 16.0F / 255;

/// The temporal filter's gain for one pixel, 0 to 1: the share of the step from the filtered to the network's alpha.
/// Small where nothing moved, 1 where something did, continuous in between. `motion` is the largest motion nearby and
/// `change` the signed step. With a temporal smoothing of 0 the gain is always 1.
MATTE_HOST_DEVICE inline float followRate(float motion, float change, float temporalSmoothing) {
    constexpr float kStill = 3.0F / 255, kMoved = 8.0F / 255;
    const float slowest = 1 - 0.95F * clampUnit(temporalSmoothing) * (2 - clampUnit(temporalSmoothing));
    // A larger change of alpha needs less motion: a change of 0.1 needs about a tenth of it. With a smaller kEager the
    // faint edges of a moving person leave trails; with a larger one camera noise lets flicker through.
    constexpr float kEager = 100;
    // Rising alpha needs as little as a quarter of the motion that falling alpha needs: at the edges of a moving person
    // the network finds too little rather than too much, and a delay there would cut off more. Below half a level of
    // 255, which is invisible, the factor rises gradually, so that the gain is continuous between falling and rising.
    constexpr float kSooner = 3, kSeen = 0.5F / 255;
    const float eager = 1 + kSooner * clampUnit(change / kSeen) + kEager * fabsf(change);
    const float moved = clampUnit((motion * eager - kStill) / (kMoved - kStill));
    return slowest + (1 - slowest) * moved * moved * (3 - 2 * moved);
}

/// Interpolates from `from` to `to`; exactly `to` at a rate of 1.
MATTE_HOST_DEVICE inline float follow(float from, float to, float rate) {
    return rate >= 1 ? to : from + rate * (to - from);
}

/// The `filtered` alpha with faint trails removed. Where the network's alpha (`wanted`) is 0, to less than one level of
/// 255, a low filtered alpha drops at once, with or without motion. Alpha of a half and more is kept, so that a person
/// whom the network misses for one frame does not flicker.
MATTE_HOST_DEVICE inline float fadeOut(float filtered, float wanted) {
    constexpr float kNobody = 1.0F / 255, kDim = 0.25F;
    return follow(filtered, wanted, clampUnit(1 - wanted / kNobody) * clampUnit(2 - filtered / kDim));
}

/// Pixels with a larger alpha belong to a component; components are 8-connected.
constexpr float kSomebody = 0.5F;

/// A pixel's contribution to its component's prominence: more in the middle and at the bottom, where the caller usually
/// sits, and more where the component kept in the previous frame was, so that the choice doesn't alternate.
MATTE_HOST_DEVICE inline unsigned roomOf(int x, int y, int width, int height, bool stayed) {
    const float aside = fabsf(2 * (float(x) + 0.5F) / float(width) - 1), down = (float(y) + 0.5F) / float(height);
    return unsigned(64 * (1 - 0.5F * aside) * (0.5F + 0.5F * down)) * (stayed ? 3U : 2U);
}

/// Whether a component of `pixels` is a small region in a frame of `all` pixels. It is compared with the largest
/// component and with the frame: in an empty room the largest component is an error too.
MATTE_HOST_DEVICE inline bool isSmallRegion(unsigned pixels, unsigned largest, unsigned all) {
    const float share = float(pixels) / float(all);
    return share < 0.002F || (share < 0.01F && float(pixels) < 0.04F * float(largest));
}

/// Width in pixels of the soft margin that is removed with a component, in a matte whose longest side is `longest`.
constexpr int kMostSurroundings = 24;
MATTE_HOST_DEVICE inline int surroundings(int longest) {
    return longest / 32 < 4 ? 4 : longest / 32 > kMostSurroundings ? kMostSurroundings : longest / 32;
}

/// Factor of alpha, 0 to 1, at a pixel `toStaying` and `toGoing` pixels from the nearest kept and removed components,
/// both at most `reach`, surroundings(). Each pixel follows the nearer component, with a soft transition between them.
MATTE_HOST_DEVICE inline float stayingShare(float toStaying, float toGoing, int reach) {
    const float feather = 0.25F * float(reach), far = 0.75F * float(reach);
    const float ahead = toGoing - (toStaying < far ? toStaying : far);
    return clampUnit(0.5F + 0.5F * ahead / feather);
}

/// Radius of each of light wrap's two box filters, on a grid whose longest side is `longest`.
MATTE_HOST_DEVICE inline int wrapRadius(int longest) {
    return longest / 48 > 1 ? longest / 48 : 1;
}

/// The person's colour with light wrap (one channel, linear light): `light` is the background's colour nearby times its
/// share of the neighbourhood. Brightens toward white and never beyond.
MATTE_HOST_DEVICE inline float wrapped(float color, float light, float strength) {
    return color + strength * light * (1 - color);
}

/// Light whose three channels sum to less is invisible.
constexpr float kNoLight = 1e-4F;

/// The inverse of the subject transform: output position (x, y), in frame widths and heights from 0 to 1, shows input
/// position (perX * x + fromX, perY * y + fromY).
struct InverseMapping {
    float perX = 1, fromX = 0, perY = 1, fromY = 0;
    bool operator==(const InverseMapping&) const = default;
};

/// For SubjectTransform: mirrored, scaled by `scale` about the middle of the lower edge, then shifted.
MATTE_HOST_DEVICE inline InverseMapping inverseMapping(bool mirrored, float scale, float x, float y) {
    InverseMapping mapping;
    mapping.perX = (mirrored ? -1 : 1) / scale;
    mapping.fromX = 0.5F - (0.5F + x) * mapping.perX;
    mapping.perY = 1 / scale;
    mapping.fromY = 1 - (1 + y) * mapping.perY;
    return mapping;
}

/// The input pixel coordinate, along an axis of `pixels`, that output pixel `at` shows. Fractional; outside 0 to
/// pixels - 1 where the input has no pixel.
MATTE_HOST_DEVICE inline float seenAt(float per, float from, int at, int pixels) {
    return per * (float(at) + 0.5F) + (from * float(pixels) - 0.5F);
}

/// Whether that coordinate is inside the input; with a tolerance, so that the frame's edge does not depend on rounding.
MATTE_HOST_DEVICE inline bool isSeen(float at, int pixels) {
    return at > -0.501F && at < float(pixels) - 0.499F;
}

/// The inverse of seenAt(): which of `outputs` pixels along an axis shows the middle of point `at` of `points`, clamped
/// to the frame.
MATTE_HOST_DEVICE inline int shownAt(float per, float from, int at, int points, int outputs) {
    const float shown = ((float(at) + 0.5F) / float(points) - from) / per * float(outputs);
    return shown < 0 ? 0 : shown >= float(outputs) ? outputs - 1 : int(shown);
}

}  // namespace matte
