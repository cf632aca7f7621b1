// SPDX-License-Identifier: Apache-2.0
// CudaPicture: a finished picture in recycled device memory, copied to the host on demand. Any thread; may outlive the
// engine.
#pragma once

#include <mutex>

#include "inference/core/frame_pool.h"
#include "inference/core/picture.h"
#include "inference/cuda/cuda_device.h"
#include "inference/cuda/device/staged_copy.h"
#include "inference/cuda/device_picture.h"

namespace matte {

/// Device memory of one finished picture. A writer makes its stream wait for `read` and records `ready` at the end; a
/// reader waits for `ready` and records `read`.
struct PictureMemory {
    explicit PictureMemory(std::size_t count) : pixels(count) {}
    [[nodiscard]] std::size_t bytes() const { return pixels.bytes(); }

    DeviceBuffer pixels;
    Event ready{Event::Kind::order}, read{Event::Kind::order};
};

/// Copies finished pictures to the host on its own stream.
class Readback {
public:
    Readback(int device, CudaFault fault) : device_(device), fault_(std::move(fault)) {}
    [[nodiscard]] int device() const { return device_; }
    /// Throws DeviceFailure.
    Image fetch(const PictureMemory& memory, Size size, PixelFormat format);
    /// The same as rgba8, in recycled memory if it is no larger than a live frame.
    std::shared_ptr<const Image> fetchFrame(const PictureMemory& memory, Size size);

private:
    void copy(const PictureMemory& memory, Image& image);

    int device_;
    CudaFault fault_;
    std::mutex mutex_;
    Stream stream_;
    StagedCopy copy_;
    FramePool frames_{kFrames};

    static constexpr std::size_t kFrames = 4;
};

class CudaPicture final : public Picture {
public:
    /// `opaque`: every alpha is 255.
    CudaPicture(std::shared_ptr<const PictureMemory> memory,
                Size size,
                bool opaque,
                std::shared_ptr<Readback> readback);
    [[nodiscard]] Size size() const override { return shown_.size; }
    [[nodiscard]] std::shared_ptr<const Image> image() const override;
    [[nodiscard]] const DevicePicture* device() const override { return &shown_; }

private:
    std::shared_ptr<const PictureMemory> memory_;
    std::shared_ptr<Readback> readback_;
    DevicePicture shown_;
    mutable std::mutex mutex_;
    mutable std::shared_ptr<const Image> image_;  ///< cached by image()
};

}  // namespace matte
