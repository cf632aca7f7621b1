// SPDX-License-Identifier: Apache-2.0
// Two-pass refinement of a photo's matte. The network's input is a few hundred pixels: somebody who fills a third of
// the photo is as small there as on a stamp, while the photo has many more pixels of them. A second pass of the network
// gets the region around the people alone, and its matte replaces that of the first pass there. Compare the refinement
// network of Lin et al., "Real-Time High-Resolution Background Matting", CVPR 2021. Pure functions; any thread.
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
    int seam = 1;  ///< over so many pixels from its borders inwards the first pass's matte turns into the second's
};

/// The region around all people of `matte` [h, w, 1], the first pass's of a photo of `photo` pixels. Nothing when the
/// people would be hardly larger in it, when it has no more pixels than the network's input had, or when nobody was
/// found. It is as nearly square as the photo allows, so that most regions have one size for the network.
std::optional<PhotoRegion> regionToRefine(const Planes& matte, Size photo);

/// Of an interleaved picture.
ImageView regionOf(const ImageView& photo, const PhotoRegion& region);

/// `first` [h, w, 1], the matte of the whole photo, with `second` [h', w', 1], that of `region`, put into it; with the
/// second pass's density of pixels, if kGuidedLongestSide allows. `first` as it is where the passes disagree about who
/// is there: the first had more of the room to judge by.
Planes mergePasses(const Planes& first, const Planes& second, const PhotoRegion& region, Size photo);

/// The network's matte [h, w, 1] of a region. May throw.
using RegionMatte = std::function<Planes(const ImageView& region)>;

/// `first`, the matte of a whole photo, with that of a second pass of `network` put into it. Nothing where no region is
/// worth it, or where the second pass gives no matte. `photo` is interleaved; its pixels are not read here, and may lie
/// in a device's memory.
std::optional<Planes> refineInTwoPasses(const Planes& first, const ImageView& photo, const RegionMatte& network);

}  // namespace matte
