// SPDX-License-Identifier: Apache-2.0
// Frames of a camera straight from the kernel, for computers without PipeWire. One program at a time may use a camera
// so. Any thread may open one; then as frame_source.h says.
#pragma once

#include <memory>
#include <string>

#include "inference/media/capture/v4l2/v4l2_device.h"
#include "inference/media/frame_source.h"

namespace matte {

/// Opens the camera with that name, id or path, the first for an empty name, and switches it on. Throws Error(source):
/// missing, busy, forbidden, or with no format that can be read. `calls` outlives the source.
std::unique_ptr<FrameSource> openV4l2Camera(V4l2Calls& calls,
                                            const std::string& name,
                                            const CaptureSettings& settings,
                                            const std::stop_token& stop = {});

}  // namespace matte
