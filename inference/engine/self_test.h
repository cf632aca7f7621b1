// SPDX-License-Identifier: Apache-2.0
// The self-test that every network has to pass on its engine before that shows anything: a model file, or a computer,
// that is damaged may well give a matte that is finite and shows the whole room. A model that says what it makes of the
// test picture, a drawn person, has to do so; any other must not take an empty room for a person. Any thread.
//
//     const std::string problem = selfTest(unet, [&](const Image& picture) { return network.matteOf(picture); });
#pragma once

#include <functional>
#include <string>

#include "inference/core/image.h"
#include "inference/model/unet.h"

namespace matte {

/// Alpha [h, w, 1] as the network gives it for a picture (bgr8) whose size is that of its input.
using MatteOf = std::function<Planes(const Image& picture)>;

/// What is wrong, as a sentence without its subject's name and its end ("it takes …"); empty when nothing is. Throws
/// what `matteOf` does. Runs the network once.
std::string selfTest(const UNet& unet, const MatteOf& matteOf);

/// What the model's file is to say, if `matteOf` is right.
KnownAnswer answerOf(const UNet& unet, const MatteOf& matteOf);

}  // namespace matte
