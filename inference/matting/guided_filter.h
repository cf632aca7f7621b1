// SPDX-License-Identifier: Apache-2.0
// Computes, from the network's small matte, a grid of coefficients that gives alpha and colours at any resolution: the
// guided filter (He, Sun, Tang, "Guided Image Filtering", 2013), local colours of foreground and background, background
// blur and light wrap. CPU; any thread.
#pragma once

#include "inference/core/image.h"
#include "inference/matting/resample.h"
#include "inference/matting/resolve.h"

namespace matte {

/// First channels of the values at each point of the coefficients' grid; the composite needs only these and the pixel's
/// colour. alpha = coefficients . (r, g, b, 1) of the sRGB-encoded pixel; all colours are in linear light.
namespace guided {
constexpr int kCoefficients = 0, kForeground = 4, kBackground = 7, kBlurred = 10, kWrap = 13, kChannels = 16;
}

/// Longest side of the coefficients' grid, in pixels.
constexpr int kGuidedLongestSide = 1024;

/// Sums over a row: colours weighted by alpha, colours, and alpha.
struct ColorSums {
    double weighted[3] = {}, all[3] = {}, person = 0;
};

/// Scratch memory of the functions below; callers keep it between frames to avoid allocation.
struct RefineScratch {
    PlaneResampler enlarge;
    std::vector<ColorSums> rows;
    Planes target, moments, models, sums, across, wider;
};

/// Fits the colour guided filter (He, Sun, Tang, "Guided Image Filtering", 2013; on a coarse grid as in "Fast Guided
/// Filter", 2015): the local linear model of `alpha` [h, w, 1] in the colours of `guide` [H, W, 3], sRGB-encoded, 0
/// to 1. Writes channels 0 to 3 of `guided` [H, W, kChannels].
void fitGuidedFilter(const Planes& guide, const Planes& alpha, Planes& guided, RefineScratch& scratch);

/// Evaluates the model on the coefficients' grid: `alpha` [H, W, 1], 0 to 1.
void evaluateAlpha(const Planes& guide, const Planes& guided, Planes& alpha);

/// Estimates the local colours of foreground and background (two passes of Forte, "Approximate Fast Foreground Colour
/// Estimation", 2021). Writes channels kForeground and kBackground of `guided`. `linear` is the guide in linear light.
void estimateColors(const Planes& linear, const Planes& alpha, Planes& guided, RefineScratch& scratch);

/// Blurs the background without the person by three box filters of `radius` grid points. Writes channel kBlurred of
/// `guided`. Call estimateColors() first.
void blurBackground(const Planes& linear, const Planes& alpha, int radius, Planes& guided, RefineScratch& scratch);

/// Light wrap: the new background's mean colour near each point times its share of the neighbourhood. Writes channel
/// kWrap of `guided`. For Kind::blur call blurBackground() first. `plate`: for Kind::image the background picture,
/// rgba8 of the frame's size, else null.
void wrapLight(
    const Planes& alpha, const ResolvedParams& params, const Image* plate, Planes& guided, RefineScratch& scratch);

/// Converts sRGB-encoded values to linear light by table, accurate to 1e-6.
void toLinear(const Planes& encoded, Planes& linear);

}  // namespace matte
