// SPDX-License-Identifier: Apache-2.0
// The cost of each layer of a network, independent of the engine. Any thread.
#pragma once

#include <string>

#include "inference/model/unet.h"

namespace matte {

/// Floating-point operations of `layer` for a network input of `input` pixels; a multiply-add counts as two.
double layerFlops(const UNet& network, const Conv& layer, Size input);
/// Minimum memory traffic in bytes: every input, weight and output once, at `bytesPerValue`.
double layerBytes(const UNet& network, const Conv& layer, Size input, int bytesPerValue);
/// Input and output channels, filter and output size: "64 + 64 -> 64, 3x3, 192x112".
std::string layerShape(const UNet& network, const Conv& layer, Size input);

}  // namespace matte
