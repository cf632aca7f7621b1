// SPDX-License-Identifier: Apache-2.0
// The steps of inference/matting for one picture, each with memory of its own, and the composite by CompositeParams.
#pragma once

#include "inference/matting/composite.h"
#include "inference/matting/guided_filter.h"

namespace matte::test {

inline void fitGuidedFilter(const Planes& guide, const Planes& alpha, Planes& guided) {
    RefineScratch scratch;
    matte::fitGuidedFilter(guide, alpha, guided, scratch);
}
inline Planes evaluateAlpha(const Planes& guide, const Planes& guided) {
    Planes alpha;
    matte::evaluateAlpha(guide, guided, alpha);
    return alpha;
}
inline void estimateColors(const Planes& linear, const Planes& alpha, Planes& guided) {
    RefineScratch scratch;
    matte::estimateColors(linear, alpha, guided, scratch);
}
/// `sigma` is the Gaussian's standard deviation in points of the grid.
inline void blurBackground(const Planes& linear, const Planes& alpha, float sigma, Planes& guided) {
    RefineScratch scratch;
    matte::blurBackground(linear, alpha, blurRadius(sigma), guided, scratch);
}
/// `params` over the picture `plate`, null for a background that is none.
inline ResolvedParams resolveOver(CompositeParams params, Size grid, const Image* plate) {
    if (plate) params.background.image = std::make_shared<Image>(Size{1, 1}, PixelFormat::rgba8);
    return resolve(params, grid);
}
inline void wrapLight(const Planes& alpha, const CompositeParams& params, const Image* plate, Planes& guided) {
    RefineScratch scratch;
    matte::wrapLight(alpha, resolveOver(params, guided.size, plate), plate, guided, scratch);
}
/// sRGB-encoded to linear light, by the formula.
inline Planes toLinear(const Planes& encoded) {
    Planes linear = encoded;
    for (float& value : linear.values) value = srgbToLinear(value);
    return linear;
}
inline Image compositeOver(const ImageView& source,
                           const Planes& guided,
                           const CompositeParams& params,
                           const Image* plate,
                           const std::stop_token& stop = {}) {
    Image out(source.size, PixelFormat::rgba8);
    Compositor().over(source, guided, resolveOver(params, guided.size, plate), plate, stop, out);
    return out;
}
inline Image renderMatte(const ImageView& source, const Planes& guided, const CompositeParams& params) {
    Image out(source.size, PixelFormat::gray8);
    Compositor().matte(source, guided, resolve(params, guided.size).edge, {}, out);
    return out;
}

}  // namespace matte::test
