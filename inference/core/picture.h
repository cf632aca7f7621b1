// SPDX-License-Identifier: Apache-2.0
// Picture: finished pixels in the memory of the device that computed them, so that the same GPU can show them without a
// copy to the host. Any thread; shared and immutable.
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
    /// The pixels in host memory. The first call copies them from the device and waits; throws Error(engine).
    [[nodiscard]] virtual std::shared_ptr<const Image> image() const = 0;
    /// The pixels in a CUDA device's memory; null for a picture computed on the host.
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
