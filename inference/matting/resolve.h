// SPDX-License-Identifier: Apache-2.0
// resolve(): derives from the compositing parameters the values that the kernels of every backend use for one picture.
// Plain values; any thread.
//
//     const ResolvedParams resolved = resolve(params, grid);
#pragma once

#include "inference/core/composite_params.h"
#include "inference/core/pixel_math.h"

namespace matte {

/// Trivially copyable: it also lies in device memory, where it changes per frame while the CUDA graph stays the same.
struct ResolvedParams {
    Background::Kind kind = Background::Kind::blur;  ///< Kind::image without a picture becomes Kind::color
    Edge edge;
    float color[3] = {};  ///< the background's, linear light
    bool decontaminate = true;
    int blurRadius = 1;   ///< blurRadius(), in points of the coefficients' grid
    float lightWrap = 0;  ///< 0 to 1; 0 for a transparent background
    bool asSeen = true;   ///< `mapping` is the identity
    InverseMapping mapping;
    float temporalSmoothing = 0;
    bool removeSmallRegions = false, nearestOnly = false;

    [[nodiscard]] MATTE_HOST_DEVICE bool isBlurred() const { return kind == Background::Kind::blur; }
    [[nodiscard]] MATTE_HOST_DEVICE bool isTransparent() const { return kind == Background::Kind::transparent; }
    [[nodiscard]] MATTE_HOST_DEVICE bool isLit() const { return lightWrap > 0; }
    /// Live mattes pass the component filter.
    [[nodiscard]] MATTE_HOST_DEVICE bool hasComponentFilter() const { return removeSmallRegions || nearestOnly; }
    /// Live mattes pass the component filter, the temporal filter, or both.
    [[nodiscard]] bool isFiltered() const { return temporalSmoothing > 0 || hasComponentFilter(); }
};

/// `grid` is the size of the coefficients' grid.
ResolvedParams resolve(const CompositeParams& params, Size grid);

}  // namespace matte
