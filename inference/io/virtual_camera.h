// SPDX-License-Identifier: Apache-2.0
// VirtualCamera: what is shown, as a camera that other programs can choose. Made by PipeWire, so that browsers, OBS and
// whatever else takes cameras from there see it.
//
//     auto camera = openVirtualCamera();
//     camera->show(picture->view());
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "inference/image.h"

namespace matte {

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

protected:
    VirtualCamera() = default;
};

/// By which the camera is known: here, so that it isn't listed among the cameras that Matte itself can use.
inline constexpr char kVirtualCameraId[] = "matte-virtual-camera";

/// Waits until PipeWire has taken it. Throws Error(output) when there is no PipeWire, or it takes no camera, and
/// Cancelled when `stop` was asked for.
std::unique_ptr<VirtualCamera> openVirtualCamera(const std::stop_token& stop = {},
                                                 const std::string& id = kVirtualCameraId,
                                                 const std::string& name = "Matte");

}  // namespace matte
