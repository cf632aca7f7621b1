// SPDX-License-Identifier: Apache-2.0
// The virtual camera that PipeWire makes: browsers, OBS and whatever else takes cameras from there see it. See
// virtual_camera.h for the rules.
#pragma once

#include "inference/media/virtual_camera/virtual_camera.h"

namespace matte {

/// By which the camera is known: here, so that it isn't listed among the cameras that Matte itself can use.
inline constexpr char kVirtualCameraId[] = "matte-virtual-camera";

/// Waits until PipeWire has taken it. Throws Error(output) when there is no PipeWire, or it takes no camera, and
/// Cancelled when `stop` was asked for.
std::unique_ptr<VirtualCamera> openPipeWireVirtualCamera(const std::stop_token& stop = {},
                                                         const std::string& id = kVirtualCameraId,
                                                         const std::string& name = "Matte");

}  // namespace matte
