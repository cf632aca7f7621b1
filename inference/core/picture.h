// SPDX-License-Identifier: Apache-2.0
// Picture: finished pixels where an engine made them, so that what is shown by the GPU that made it never travels. Any
// thread; shared, never changed.
#pragma once

#include <memory>

#include "inference/core/image.h"

namespace matte {

struct DevicePicture;  // cuda/device_picture.h

/// rgba8, packed rows; opaque unless the background is transparent (straight alpha).
class Picture {
public:
    virtual ~Picture() = default;
    Picture(const Picture&) = delete;
    Picture& operator=(const Picture&) = delete;

    [[nodiscard]] virtual Size size() const = 0;
    /// On the host. The first call copies them from the device, waits, and throws Error(engine) when that fails.
    [[nodiscard]] virtual std::shared_ptr<const Image> image() const = 0;
    /// In the memory of a CUDA device; null when they were made on the host.
    [[nodiscard]] virtual const DevicePicture* device() const { return nullptr; }

protected:
    Picture() = default;
};

class HostPicture final : public Picture {
public:
    explicit HostPicture(std::shared_ptr<const Image> image) : image_(std::move(image)) {}
    [[nodiscard]] Size size() const override { return image_->size(); }
    [[nodiscard]] std::shared_ptr<const Image> image() const override { return image_; }

private:
    std::shared_ptr<const Image> image_;
};

}  // namespace matte
