// SPDX-License-Identifier: Apache-2.0
// VirtualCamera: the picture that is shown, as a camera that other programs can choose: PipeWire's, which browsers and
// OBS take, and, where v4l2loopback is loaded, a /dev/video for programs that take none from PipeWire.
//
//     auto camera = openVirtualCamera();
//     camera->show(picture->view());
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "inference/core/image.h"

namespace matte {

class V4l2Calls;

/// One thread at a time shows; the rest may be asked on any.
class VirtualCamera {
public:
    virtual ~VirtualCamera() = default;
    VirtualCamera(const VirtualCamera&) = delete;
    VirtualCamera& operator=(const VirtualCamera&) = delete;

    /// What is seen from now on: rgba8 of any size, over black where it is transparent, between bars where its shape is
    /// another than the viewer's. Does nothing while nobody watches.
    virtual void show(const ImageView& picture) = 0;
    /// From now on black is seen.
    virtual void showNothing() = 0;
    [[nodiscard]] virtual bool isWatched() const = 0;
    /// Why nobody can see it any more, as a sentence for people; else empty.
    [[nodiscard]] virtual std::string problem() const = 0;
    /// Its names in other programs' lists of cameras.
    [[nodiscard]] virtual std::vector<std::string> names() const = 0;

protected:
    VirtualCamera() = default;
};

/// All cameras that can be had here, as one. Throws Error(output) when there is none, and Cancelled when `stop` was
/// asked for.
std::unique_ptr<VirtualCamera> openVirtualCamera(const std::stop_token& stop = {});

/// The name by which PipeWire knows the camera; the list of cameras leaves it out.
inline constexpr char kVirtualCameraId[] = "matte-virtual-camera";

/// PipeWire's: browsers, OBS and whatever else takes cameras from there see it. Waits until PipeWire has taken it.
/// Throws Error(output) when there is no PipeWire, or it takes no camera, and Cancelled when `stop` was asked for.
std::unique_ptr<VirtualCamera> openPipeWireVirtualCamera(const std::stop_token& stop = {},
                                                         const std::string& id = kVirtualCameraId,
                                                         const std::string& name = "Matte");

/// That of v4l2loopback, a kernel module that gives what one program writes to a /dev/video to others that read from
/// it: for programs that take no cameras from PipeWire (Zoom, Skype, many browsers by default). The first device that
/// nobody writes to, one with the label “Matte” before others; YUY2, 30 pictures a second, 1280x720 unless its owner
/// has fixed another size. Null without the module. Throws Error(output) when every device is written to.
///
///     sudo modprobe v4l2loopback exclusive_caps=1 card_label=Matte
std::unique_ptr<VirtualCamera> openLoopbackCamera(V4l2Calls& calls);

/// Whether a camera of this name is the loopback camera that is written to here: nobody films his own picture. Any
/// thread.
bool isOwnLoopbackCamera(const std::string& name);

}  // namespace matte
