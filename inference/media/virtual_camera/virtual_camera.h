// SPDX-License-Identifier: Apache-2.0
// VirtualCamera: what is shown, as a camera that other programs can choose: PipeWire's, which browsers and OBS take,
// and v4l2loopback's, where that is loaded, for those that take none from PipeWire.
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
    /// What it is called where other programs list their cameras.
    [[nodiscard]] virtual std::vector<std::string> names() const = 0;

protected:
    VirtualCamera() = default;
};

/// All that can be had here. Throws Error(output) when there is none, and Cancelled when `stop` was asked for.
std::unique_ptr<VirtualCamera> openVirtualCamera(const std::stop_token& stop = {});

}  // namespace matte
