// SPDX-License-Identifier: Apache-2.0
// Frames of a camera of Windows', through Media Foundation's source reader. Compiled on Windows alone.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "inference/media/capture/media_foundation/media_foundation_device.h"
#include "inference/media/frame_source.h"

namespace matte {

/// Opens the camera with that name or id, the first for an empty name, and switches it on. H264 is decoded by Windows.
/// All of it happens on a thread of the source's own, which a driver that hangs takes with it: opening ends when `stop`
/// is asked for, and closing after two seconds. Throws Error(source): missing, busy, forbidden, silent, or with no
/// format that can be read; Cancelled when `stop` was asked for. `plugged` lists the cameras, on that thread.
std::unique_ptr<FrameSource> openMediaFoundationCamera(std::function<std::vector<ComPtr<IMFActivate>>()> plugged,
                                                       const std::string& name,
                                                       const CaptureSettings& settings,
                                                       const std::stop_token& stop = {});

}  // namespace matte
