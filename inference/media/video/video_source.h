// SPDX-License-Identifier: Apache-2.0
// Videos and addresses through FFmpeg, upright, bgr8. Paced, it is a live source: frames come when they are due
// and are left out when the reader is late. Otherwise every frame comes. In both cases Frame::captured is as much later
// than the first frame's as the video says. Any thread may open one; then as frame_source.h says.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "inference/media/frame_source.h"

namespace matte {

/// Throws Error(input): missing, empty, a playlist or another text, not a video, or larger than Image::kMaxPixels.
std::unique_ptr<FrameSource> openVideo(const std::filesystem::path& path, const CaptureSettings& settings);
/// How long an address may be silent.
struct AddressPatience {
    std::chrono::milliseconds open{10'000}, read{5'000};
};

/// Throws Error(source) when nothing comes for longer than `patience`; so does read() when a stream without a length
/// breaks off. Throws Cancelled when `stop` was asked for. Neither a stop nor the source's end waits for the network: a
/// DetachedSource.
std::unique_ptr<FrameSource> openAddress(const std::string& address,
                                         const CaptureSettings& settings,
                                         const std::stop_token& stop = {},
                                         const AddressPatience& patience = {});

}  // namespace matte
