// SPDX-License-Identifier: Apache-2.0
#include "inference/matting/resolve.h"

namespace matte {

ResolvedParams resolve(const CompositeParams& params, Size grid) {
    const Background& background = params.background;
    const SubjectTransform& transform = params.transform;
    ResolvedParams resolved;
    resolved.kind = background.kind;
    if (resolved.kind == Background::Kind::image && !background.image) resolved.kind = Background::Kind::color;
    resolved.edge = edgeOf(params.threshold, params.softness);
    const std::uint8_t rgb[3] = {background.color.r, background.color.g, background.color.b};
    for (int c = 0; c < 3; ++c) resolved.color[c] = srgbToLinear(float(rgb[c]) / 255);
    resolved.decontaminate = params.decontaminate;
    resolved.blurRadius = blurRadius(blurSigma(background.blurStrength, grid.longest()));
    resolved.lightWrap = resolved.isTransparent() ? 0.0F : clampUnit(params.lightWrap);
    resolved.asSeen = transform == SubjectTransform{};
    resolved.mapping = inverseMapping(transform.mirrored, transform.scale, transform.x, transform.y);
    resolved.temporalSmoothing = params.temporalSmoothing;
    resolved.removeSmallRegions = params.removeSmallRegions;
    resolved.nearestOnly = params.nearestOnly;
    return resolved;
}

}  // namespace matte
