// SPDX-License-Identifier: Apache-2.0
// resolve(): what the compositing parameters come to for one picture. Whatever follows from several of them is decided
// here, once for every backend. Plain values; any thread.
//
//     const ResolvedParams resolved = resolve(params, grid);
#pragma once

#include "inference/core/composite_params.h"
#include "inference/core/pixel_math.h"

namespace matte {

/// Bytes alone, so that it also lies in device memory, where it may change from frame to frame while a graph stays.
struct ResolvedParams {
    Background::Kind kind = Background::Kind::blur;  ///< Kind::image only where there is a picture, else its colour
    Edge edge;
    float color[3] = {};  ///< the background's, linear light
    bool decontaminate = true;
    int blurRadius = 1;   ///< blurRadius(), in points of the coefficients' grid
    float lightWrap = 0;  ///< 0 to 1; 0 before a transparent background
    bool asSeen = true;   ///< `mapping` changes nothing: the person stands where the camera saw them
    InverseMapping mapping;
    float temporalSmoothing = 0;
    bool removeSmallRegions = false, nearestOnly = false;

    [[nodiscard]] MATTE_HOST_DEVICE bool isBlurred() const { return kind == Background::Kind::blur; }
    [[nodiscard]] MATTE_HOST_DEVICE bool isTransparent() const { return kind == Background::Kind::transparent; }
    [[nodiscard]] MATTE_HOST_DEVICE bool isLit() const { return lightWrap > 0; }
    /// Live mattes go through the component filter.
    [[nodiscard]] MATTE_HOST_DEVICE bool hasComponentFilter() const { return removeSmallRegions || nearestOnly; }
    /// Live mattes go through the component filter or the temporal filter.
    [[nodiscard]] bool isFiltered() const { return temporalSmoothing > 0 || hasComponentFilter(); }
};

/// `grid` is the size of the coefficients' grid.
ResolvedParams resolve(const CompositeParams& params, Size grid);

}  // namespace matte
