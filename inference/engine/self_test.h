// SPDX-License-Identifier: Apache-2.0
// The self-test that each network must pass on its engine before anything is shown: a damaged model file or faulty
// hardware may give a finite matte that shows the whole room. A model with a known answer must reproduce it on the test
// picture, a drawn person; any other model must not find a person in an empty room. Any thread.
//
//     const std::string problem = selfTest(unet, [&](const Image& picture) { return network.matteOf(picture); });
#pragma once

#include <functional>
#include <string>

#include "inference/core/image.h"
#include "inference/model/unet.h"

namespace matte {

/// Runs the network on a still (bgr8) of its input's size, twice if it is recurrent: alpha [h, w, 1].
using MatteOf = std::function<Planes(const Image& picture)>;

/// The problem as a clause about the model, without a full stop ("it takes …"); empty when the test passes. Calls
/// `matteOf` once. Throws what `matteOf` throws.
std::string selfTest(const UNet& unet, const MatteOf& matteOf);

/// The known answer to record in the model file, from a `matteOf` known to be correct.
KnownAnswer answerOf(const UNet& unet, const MatteOf& matteOf);

}  // namespace matte
