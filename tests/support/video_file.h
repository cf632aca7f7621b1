// SPDX-License-Identifier: Apache-2.0
// Small videos for tests, in which each frame tells which one it is. Any thread.
#pragma once

#include <filesystem>

#include "inference/image.h"

namespace matte::test {

/// At most 20 different frames, each of one colour. The extension names the container: .mp4 and .ts hold MPEG-4, .avi
/// Motion JPEG.
std::filesystem::path writeVideo(const std::filesystem::path& path,
                                 int frames = 5,
                                 double rate = 25,
                                 Size size = {96, 64});

/// Which frame of such a video is in the middle of a picture, bgr8 or rgba8; -1 when it is none.
int videoFrameIn(const Image& picture);

}  // namespace matte::test
