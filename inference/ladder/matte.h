// SPDX-License-Identifier: Apache-2.0
// A picture's matte by any method of the ladder: what a menu that switches methods calls. One thread at a time for each
// network.
//
//     const MethodMatte matte = matteBy(*network, model->unet, picture);  // matte.alpha, matte.report.ms
//     const double far = difference(matte.alpha.values, byDefault.alpha.values).mean;  // lab_measure.h
#pragma once

#include "inference/image.h"
#include "inference/ladder/method.h"

namespace matte::ladder {

struct MethodMatte {
    Planes alpha;  ///< [h, w, 1] at the network's size, 0 to 1
    RunReport report;
};

/// Resamples and normalises `picture` as the engines do, and runs `network`, which was made from `unet`'s model.
/// `longestSide` as in UNet::inputSize(). Throws Error(engine).
MethodMatte matteBy(NetworkMethod& network, const UNet& unet, const ImageView& picture, int longestSide = 0);

}  // namespace matte::ladder
