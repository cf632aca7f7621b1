// SPDX-License-Identifier: Apache-2.0
// The unknown band of a true alpha: the part of a picture that a matting benchmark scores, because alpha is to be
// estimated there. Any thread. inference/training/train/metrics.py has the same definitions.
#pragma once

#include "inference/core/image.h"
#include "inference/tools/evaluate/filters.h"

namespace matte {

/// Whether a matte, [h, w, 1], is a true alpha and no label with a hard edge: more than a hundredth of its pixels are
/// soft, between .02 and .98.
bool isSoft(const Planes& truth);

/// The soft pixels of a matte, dilated by a hundredth of the picture's longest side, at least by 2 pixels. So the
/// trimaps of a benchmark are made, those of Rhemann et al. (CVPR 2009) for example.
Mask unknownBand(const Planes& truth);

/// The part of a band where hair is: its rows from the top of the picture to that in which a third of the person's area
/// has been passed. The area of a row is the sum of its alpha.
Mask hairPart(Mask band, const Planes& truth);

}  // namespace matte
