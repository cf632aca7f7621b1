// SPDX-License-Identifier: Apache-2.0
// Two-pass refinement of a photo's matte. The network's input is only a few hundred pixels wide, so a person who fills
// a third of the photo loses most of their detail. A second pass of the network processes only the region around the
// people, and its matte replaces the first one there. Compare the refinement network of Lin et al., "Real-Time
// High-Resolution Background Matting", CVPR 2021. Pure functions; any thread.
//
//     if (auto refined = refineInTwoPasses(matte, photo.view(), networkMatte)) matte = std::move(*refined);
#pragma once

#include <functional>
#include <optional>

#include "inference/core/image.h"

namespace matte {

/// A rectangle of a photo, in its pixels.
struct PhotoRegion {
    int left = 0, top = 0;
    Size size;
    int seam = 1;  ///< width of the blend from the first matte to the second, from the borders inwards
};

/// The region around all people of `matte` [h, w, 1], the first pass of a photo of `photo` pixels. Empty when nobody
/// was found, when the people would be hardly larger in the region, or when it has no more pixels than the network's
/// input. As close to a square as the photo allows, so that most regions share one network input size.
std::optional<PhotoRegion> regionToRefine(const Planes& matte, Size photo);

/// The view of `region` in an interleaved picture.
ImageView regionOf(const ImageView& photo, const PhotoRegion& region);

/// Merges `second` [h', w', 1], the matte of `region`, into `first` [h, w, 1], the matte of the whole photo, at the
/// second pass's resolution, limited by kGuidedLongestSide. Returns `first` unchanged when the passes disagree about
/// the people: the first pass had more context.
Planes mergePasses(const Planes& first, const Planes& second, const PhotoRegion& region, Size photo);

/// Runs the network on a region: its matte [h, w, 1]. May throw.
using RegionMatte = std::function<Planes(const ImageView& region)>;

/// Runs the second pass with `network` and merges it into `first`, the matte of the whole photo. Empty when no region
/// needs it or the second matte is not usable. `photo` is interleaved; its pixels are not read here and may lie in
/// device memory.
std::optional<Planes> refineInTwoPasses(const Planes& first, const ImageView& photo, const RegionMatte& network);

}  // namespace matte
