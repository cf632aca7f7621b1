// SPDX-License-Identifier: Apache-2.0
// What each layer of a network costs, whoever runs it. Any thread.
#pragma once

#include <string>

#include "inference/model/unet.h"

namespace matte {

/// Floating-point operations of `layer` for a network input of `input` pixels, a multiply-add counted as two.
double layerFlops(const UNet& network, const Conv& layer, Size input);
/// Bytes that must at least be read and written: each input, weight and output once, `bytesPerValue` each.
double layerBytes(const UNet& network, const Conv& layer, Size input, int bytesPerValue);
/// Channels in and out, filter, and pixels out: "64 + 64 -> 64, 3x3, 192x112".
std::string layerShape(const UNet& network, const Conv& layer, Size input);

}  // namespace matte
