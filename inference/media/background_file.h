// SPDX-License-Identifier: Apache-2.0
// What may stand behind a person, from a file: a picture, or a video, of which the first frame stands for all where
// nothing moves. Any thread.
#pragma once

#include <filesystem>
#include <stop_token>

#include "inference/core/composite_params.h"

namespace matte {

/// Fills image and moving of a background of Kind::image from its imagePath; what is in the file decides, not its name.
/// The picture is rgba8. Throws Error(input): missing, unreadable, damaged, neither a picture nor a video, a video
/// without a frame or larger than kLargestVideo. Throws Cancelled when `stop` was asked for.
void readBackground(Background& background, const std::stop_token& stop = {});

/// The most pixels that a frame of a video may have: several are held at a time.
inline constexpr std::size_t kLargestVideo = std::size_t(7680) * 4320;

/// Whether the name ends as a video's does.
bool hasVideoExtension(const std::filesystem::path& path);

}  // namespace matte
