// SPDX-License-Identifier: Apache-2.0
// The last step on the CPU: every pixel's alpha and colour from the field, mixed in linear light. Any thread.
#pragma once

#include <stop_token>

#include "inference/image.h"
#include "inference/look.h"

namespace matte {

/// `source` (rgba8 or bgr8) over `look.background` -> rgba8 of the same size. `fields` is [h, w, field::kChannels] as
/// in refine.h; `plate` is the background picture at the source's size for Kind::image, else null. Throws Cancelled.
Image compositeOver(
    const ImageView& source, const Planes& fields, const Look& look, const Image* plate, std::stop_token stop);

/// The matte alone at `source`'s size, gray8. Throws Cancelled.
Image renderMatte(const ImageView& source, const Planes& fields, const Look& look, std::stop_token stop);

}  // namespace matte
