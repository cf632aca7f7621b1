// SPDX-License-Identifier: Apache-2.0
// From the network's small matte to coefficients from which alpha and colour follow at any resolution: the guided
// filter (He, Sun, Tang, "Guided Image Filtering", 2013), the foreground's and background's local colours, blur and
// light wrap. CPU; any thread.
#pragma once

#include "inference/core/composite_params.h"
#include "inference/core/image.h"
#include "inference/core/pixel_math.h"
#include "inference/matting/resample.h"

namespace matte {

/// The channels of a point of the coefficients' grid: all that the composite needs beside the pixel's own colour.
/// alpha = coefficients . (r, g, b, 1) of the sRGB-encoded pixel (guided filter); the local colours are in linear
/// light.
namespace guided {
constexpr int kCoefficients = 0, kForeground = 4, kBackground = 7, kBlurred = 10, kWrap = 13, kChannels = 16;
}

/// Longest side of the coefficients' grid, in pixels.
constexpr int kGuidedLongestSide = 1024;
/// The same for live frames on the CPU, whose default network has no larger input: the guided filter brings the matte
/// to the picture's own pixels from there.
constexpr int kLiveGuidedLongestSide = 384;

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
/// channels 0 to 3 of `guided` [H, W, kChannels].
void fitGuidedFilter(const Planes& guide, const Planes& alpha, Planes& guided, RefineScratch& scratch);

/// The matte on the coefficients' grid, 0 to 1.
void evaluateAlpha(const Planes& guide, const Planes& guided, Planes& alpha);

/// Local colours of the person and of the background in linear light (two passes of Forte, "Approximate Fast Foreground
/// Colour Estimation", 2021), written to channels kForeground and kBackground of `guided`. `linear` is the guide in
/// linear light.
void estimateColors(const Planes& linear, const Planes& alpha, Planes& guided, RefineScratch& scratch);

/// The background blurred with `sigma` pixels of the grid, the person left out, written to channel kBlurred of
/// `guided`; needs estimateColors() before.
void blurBackground(const Planes& linear, const Planes& alpha, float sigma, Planes& guided, RefineScratch& scratch);

/// What shines on the person from behind.
struct WrapSource {
    bool blurred = false;          ///< the blurred room: channel kBlurred
    const Image* plate = nullptr;  ///< or a picture, rgba8 of the frame's size
    float color[3] = {};           ///< or a colour, linear light
    InverseMapping mapping;        ///< where the person stands in that picture
};
/// `plate` as in compositeOver().
WrapSource wrapSource(const CompositeParams& params, const Image* plate);
/// The new background's light near each point, times how much of the neighbourhood it is, written to channel kWrap of
/// `guided`.
void wrapLight(const Planes& alpha, const WrapSource& source, Planes& guided, RefineScratch& scratch);

/// sRGB-encoded to linear light.
void toLinear(const Planes& encoded, Planes& linear);
/// The same by tables, right to 1e-6.
void lookUpLinear(const Planes& encoded, Planes& linear);

/// For one picture: the same with memory of their own.
void fitGuidedFilter(const Planes& guide, const Planes& alpha, Planes& guided);
Planes evaluateAlpha(const Planes& guide, const Planes& guided);
void estimateColors(const Planes& linear, const Planes& alpha, Planes& guided);
void blurBackground(const Planes& linear, const Planes& alpha, float sigma, Planes& guided);
Planes toLinear(const Planes& encoded);

}  // namespace matte
