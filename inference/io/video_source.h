// SPDX-License-Identifier: Apache-2.0
// Videos and addresses through OpenCV's FFmpeg, upright, bgr8. Paced it is a live source: frames come when they are due
// and are left out when the reader is late. Not paced, every frame comes.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "inference/io/frame_source.h"

namespace matte {

/// Throws Error(input): missing, empty, a playlist or another text, not a video, or larger than Image::kMaxPixels.
std::unique_ptr<FrameSource> openVideo(const std::filesystem::path& path, const CaptureSettings& settings);
/// Throws Error(source) when nothing comes within some seconds; so does read() when a stream without a length breaks
/// off.
std::unique_ptr<FrameSource> openAddress(const std::string& address, const CaptureSettings& settings);

}  // namespace matte
