// SPDX-License-Identifier: Apache-2.0
// The virtual camera of v4l2loopback, a kernel module that gives what one program writes to a /dev/video to others that
// read from it: for programs that take no cameras from PipeWire (Zoom, Skype, many browsers as they come). See
// virtual_camera.h for the rules.
//
//     sudo modprobe v4l2loopback exclusive_caps=1 card_label=Matte
#pragma once

#include "inference/media/capture/v4l2/v4l2_calls.h"
#include "inference/media/virtual_camera/virtual_camera.h"

namespace matte {

/// The first that nobody writes to, one with the label “Matte” before others; 1280x720 if its owner has not fixed
/// another size, YUY2, 30 pictures a second. Null without the module. Throws Error(output) when each one is written to.
std::unique_ptr<VirtualCamera> openLoopbackCamera(V4l2Calls& calls);

/// Whether a camera of this name is the one that is written to here: nobody films his own picture. Any thread.
bool isOwnLoopbackCamera(const std::string& name);

}  // namespace matte
