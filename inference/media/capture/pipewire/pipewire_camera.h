// SPDX-License-Identifier: Apache-2.0
// Frames of a PipeWire camera, through shared memory. Many programs may use such a camera at a time. Any thread
// may open one; then as frame_source.h says.
#pragma once

#include <memory>
#include <string>

#include "inference/media/frame_source.h"

namespace matte {

/// Opens the camera with that name or id, the first for an empty name, and waits until it has agreed on a format. Null
/// when there is no PipeWire here, or when it has no camera at all. Throws Error(source): no such camera, busy,
/// forbidden, or silent.
std::unique_ptr<FrameSource> openPipeWireCamera(const std::string& name,
                                                const CaptureSettings& settings,
                                                const std::stop_token& stop = {});

/// What to say about a camera that can't be started, from the reason that PipeWire or the system gives.
std::string sentenceFor(const std::string& camera, const std::string& reason);

}  // namespace matte
