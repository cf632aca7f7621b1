// SPDX-License-Identifier: Apache-2.0
// From the network's small matte to a field from which alpha and colour follow at any resolution. CPU; any thread.
#pragma once

#include "inference/core/image.h"
#include "inference/core/look.h"
#include "inference/core/pixel_math.h"
#include "inference/matting/resample.h"

namespace matte {

/// The field's channels: everything the composite needs at a pixel besides the picture's own colour.
/// alpha = coefficients . (r, g, b, 1) of the sRGB-encoded pixel (guided filter); the local colours are in linear
/// light.
namespace field {
constexpr int kCoefficients = 0, kForeground = 4, kBackground = 7, kBlurred = 10, kWrap = 13, kChannels = 16;
}

/// Longest side of the grid on which the field is computed.
constexpr int kFieldLongestSide = 1024;
/// The same for live frames on the CPU, whose default network sees no more: the guided filter brings the matte to the
/// picture's own pixels from there.
constexpr int kLiveFieldLongestSide = 384;

/// A row's colours, and the person's share of them, summed.
struct ColorSums {
    double weighted[3] = {}, all[3] = {}, person = 0;
};

/// Memory that the steps below need; kept from frame to frame it is not allocated again.
struct RefineScratch {
    PlaneResampler enlarge;
    std::vector<ColorSums> rows;
    Planes target, moments, models, sums, across, wider;
};

/// Coefficients of the colour guided filter (He, Sun, Tang, "Guided Image Filtering", 2013; on a coarse grid as in
/// "Fast Guided Filter", 2015) that explain `alpha` [h, w, 1] by `guide` [H, W, 3, sRGB-encoded 0 to 1]; written to
/// channels 0 to 3 of `fields` [H, W, kChannels].
void fitGuidedFilter(const Planes& guide, const Planes& alpha, Planes& fields, RefineScratch& scratch);

/// The matte on the field's grid, 0 to 1.
void evaluateAlpha(const Planes& guide, const Planes& fields, Planes& alpha);

/// Local colours of the person and of the background in linear light (two passes of Forte, "Approximate Fast Foreground
/// Colour Estimation", 2021), written to channels kForeground and kBackground of `fields`. `linear` is the guide in
/// linear light.
void estimateColors(const Planes& linear, const Planes& alpha, Planes& fields, RefineScratch& scratch);

/// The background blurred with `sigma` pixels of the grid, the person left out, written to channel kBlurred of
/// `fields`; needs estimateColors() before.
void blurBackground(const Planes& linear, const Planes& alpha, float sigma, Planes& fields, RefineScratch& scratch);

/// What shines on the person from behind.
struct WrapSource {
    bool blurred = false;          ///< the blurred room: channel kBlurred
    const Image* plate = nullptr;  ///< or a picture, rgba8 of the frame's size
    float color[3] = {};           ///< or a colour, linear light
    Place place;                   ///< where the person stands in that picture
};
/// `plate` as in compositeOver().
WrapSource wrapSource(const Look& look, const Image* plate);
/// The new background's light near each point, times how much of the neighbourhood it is, written to channel kWrap of
/// `fields`.
void wrapLight(const Planes& alpha, const WrapSource& source, Planes& fields, RefineScratch& scratch);

/// sRGB-encoded to linear light.
void toLinear(const Planes& encoded, Planes& linear);
/// The same by tables, right to 1e-6.
void lookUpLinear(const Planes& encoded, Planes& linear);

/// For one picture: the same with memory of their own.
void fitGuidedFilter(const Planes& guide, const Planes& alpha, Planes& fields);
Planes evaluateAlpha(const Planes& guide, const Planes& fields);
void estimateColors(const Planes& linear, const Planes& alpha, Planes& fields);
void blurBackground(const Planes& linear, const Planes& alpha, float sigma, Planes& fields);
Planes toLinear(const Planes& encoded);

}  // namespace matte
