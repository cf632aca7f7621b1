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

/// sRGB's transfer functions (IEC 61966-2-1); both sides 0 to 1.
MATTE_HOST_DEVICE inline float srgbToLinear(float encoded) {
    return encoded <= 0.04045F ? encoded / 12.92F : powf((encoded + 0.055F) / 1.055F, 2.4F);
}
MATTE_HOST_DEVICE inline float linearToSrgb(float linear) {
    return linear <= 0.0031308F ? linear * 12.92F : 1.055F * powf(linear, 1.0F / 2.4F) - 0.055F;
}

MATTE_HOST_DEVICE inline float clampUnit(float value) {
    return value < 0 ? 0.0F : value > 1 ? 1.0F : value;
}

/// The span of the matte's alpha that becomes 0 to 1: alpha below `low` is background, above `high` person.
struct Edge {
    float low = 0, high = 1;
};

/// Threshold and softness (both 0 to 1) as an Edge. The span never leaves 0 to 1, so that a matte of 0 stays 0 and of 1
/// stays 1 wherever the threshold is: with a wider span a moved threshold would let the old background through
/// everywhere.
MATTE_HOST_DEVICE inline Edge edgeOf(float threshold, float softness) {
    const float middle = 0.02F + 0.96F * clampUnit(threshold);
    const float half = 0.5F * (0.02F + 0.98F * clampUnit(softness));
    Edge edge;
    edge.low = clampUnit(middle - half);
    edge.high = clampUnit(middle + half);
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

MATTE_HOST_DEVICE inline float mix(float from, float to, float amount) {
    return from + (to - from) * amount;
}

/// Standard deviation of the background blur as a share of the picture's longest side, for a strength of 1 to 100.
MATTE_HOST_DEVICE inline float blurSigma(float strength) {
    return 0.0004F * strength;
}

}  // namespace matte
