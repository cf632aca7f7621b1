// SPDX-License-Identifier: Apache-2.0
// H264 as a camera sends it, made with OpenCV's encoder.
#pragma once

#include <cstdint>
#include <vector>

#include "inference/core/image.h"

namespace matte::test {

/// The access units of a clip whose frame n is grey of level 20 + 2 n, a key frame first. Empty where OpenCV can't
/// encode H264.
std::vector<std::vector<std::uint8_t>> h264Clip(Size size, int frames);

}  // namespace matte::test
