// SPDX-License-Identifier: Apache-2.0
// Backgrounds from files: a picture, or a video, whose first frame is used where nothing moves. Any thread.
#pragma once

#include <filesystem>
#include <stop_token>

#include "inference/core/composite_params.h"
#include "inference/media/frame_source.h"

namespace matte {

/// Fills image and moving of a background of Kind::image from its imagePath; what is in the file decides, not its name.
/// The picture is rgba8. Throws Error(input): missing, unreadable, damaged, neither a picture nor a video, a video
/// without a frame or refuseLargeVideo()'s. Throws Cancelled when `stop` was asked for.
void readBackground(Background& background, const std::stop_token& stop = {});

/// Throws Error(input) when the pictures of `video`, which `path` names, have more than 7680x4320 pixels: several are
/// held at a time.
void refuseLargeVideo(const FrameSource& video, const std::filesystem::path& path);
/// Throws Error(input) for a video of which no picture could be read.
[[noreturn]] void refuseEmptyVideo(const std::filesystem::path& path);

/// Whether the name ends as a video's does.
bool hasVideoExtension(const std::filesystem::path& path);

}  // namespace matte
