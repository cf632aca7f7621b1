// SPDX-License-Identifier: Apache-2.0
// From the network's small matte to a field from which alpha and colour follow at any resolution. CPU; any thread.
#pragma once

#include "inference/image.h"

namespace matte {

/// The field's channels: everything the composite needs at a pixel besides the picture's own colour.
/// alpha = coefficients . (r, g, b, 1) of the sRGB-encoded pixel (guided filter); the local colours are in linear
/// light.
namespace field {
constexpr int kCoefficients = 0, kForeground = 4, kBackground = 7, kBlurred = 10, kChannels = 16;
}

/// Longest side of the grid on which the field is computed.
constexpr int kFieldLongestSide = 1024;

/// Coefficients of the colour guided filter (He, Sun, Tang, "Guided Image Filtering", 2013; on a coarse grid as in
/// "Fast Guided Filter", 2015) that explain `alpha` [h, w, 1] by `guide` [H, W, 3, sRGB-encoded 0 to 1]; written to
/// channels 0 to 3 of `fields` [H, W, kChannels].
void fitGuidedFilter(const Planes& guide, const Planes& alpha, Planes& fields);

/// The matte on the field's grid, 0 to 1.
Planes evaluateAlpha(const Planes& guide, const Planes& fields);

/// Local colours of the person and of the background in linear light (two passes of Forte, "Approximate Fast Foreground
/// Colour Estimation", 2021), written to channels kForeground and kBackground of `fields`. `linear` is the guide in
/// linear light.
void estimateColors(const Planes& linear, const Planes& alpha, Planes& fields);

/// The background blurred with `sigma` pixels of the grid, the person left out, written to channel kBlurred of
/// `fields`; needs estimateColors() before.
void blurBackground(const Planes& linear, const Planes& alpha, float sigma, Planes& fields);

/// sRGB-encoded to linear light.
Planes toLinear(const Planes& encoded);

/// Mean over a (2r+1)^2 window cut at the borders, in place, any number of channels; `passes` times over.
void boxFilter(Planes& planes, int radius, int passes = 1);

}  // namespace matte
