// SPDX-License-Identifier: Apache-2.0
// A second look at people who are far away. The network sees a photo at a few hundred pixels: somebody who fills a
// third of it is then as small as on a stamp, while the photo has many more pixels of him. So the network is given the
// part around the people once more, and the matte there is taken from that. Pure functions; any thread.
//
//     if (const auto part = closerLook(matte, photo.size())) {
//         matte = joinLooks(matte, network(partOf(photo.view(), *part)), *part, photo.size());
//     }
#pragma once

#include <optional>

#include "inference/core/image.h"

namespace matte {

/// A part of a photo, in its pixels.
struct PhotoPart {
    int left = 0, top = 0;
    Size size;
    int seam = 1;  ///< over so many pixels from its borders inwards the first look turns into the second
};

/// The part around all people of `matte` [h, w, 1], the network's of a whole photo of `photo` pixels; nothing when that
/// part would hardly look larger, has no more pixels than the network saw, or nobody was found. It is as nearly square
/// as the photo allows: so most parts have one size for the network.
std::optional<PhotoPart> closerLook(const Planes& matte, Size photo);

/// Of an interleaved picture.
ImageView partOf(const ImageView& photo, const PhotoPart& part);

/// `whole` [h, w, 1] with `closer` [h', w', 1], the network's matte of `part`, put into it; as many pixels as the
/// closer look had, if kFieldLongestSide allows. `whole` as it is where the looks disagree about who is there: the
/// first one saw more of the room.
Planes joinLooks(const Planes& whole, const Planes& closer, const PhotoPart& part, Size photo);

}  // namespace matte
