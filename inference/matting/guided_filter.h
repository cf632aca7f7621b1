// SPDX-License-Identifier: Apache-2.0
// From the network's small matte to coefficients from which alpha and colour follow at any resolution: the guided
// filter (He, Sun, Tang, "Guided Image Filtering", 2013), the foreground's and background's local colours, blur and
// light wrap. CPU; any thread.
#pragma once

#include "inference/core/image.h"
#include "inference/matting/resample.h"
#include "inference/matting/resolve.h"

namespace matte {

/// The channels of a point of the coefficients' grid: all that the composite needs beside the pixel's own colour.
/// alpha = coefficients . (r, g, b, 1) of the sRGB-encoded pixel (guided filter); the local colours are in linear
/// light.
namespace guided {
constexpr int kCoefficients = 0, kForeground = 4, kBackground = 7, kBlurred = 10, kWrap = 13, kChannels = 16;
}

/// Longest side of the coefficients' grid, in pixels.
constexpr int kGuidedLongestSide = 1024;

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

/// The background blurred by three box filters of `radius` points of the grid, the person left out, written to channel
/// kBlurred of `guided`; needs estimateColors() before.
void blurBackground(const Planes& linear, const Planes& alpha, int radius, Planes& guided, RefineScratch& scratch);

/// The new background's light near each point, times how much of the neighbourhood it is, written to channel kWrap of
/// `guided`; needs blurBackground() before for Kind::blur. `plate` is the background picture for Kind::image, rgba8 of
/// the frame's size, else null.
void wrapLight(
    const Planes& alpha, const ResolvedParams& params, const Image* plate, Planes& guided, RefineScratch& scratch);

/// sRGB-encoded to linear light, by tables: right to 1e-6.
void toLinear(const Planes& encoded, Planes& linear);

}  // namespace matte
