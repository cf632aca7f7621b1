// SPDX-License-Identifier: Apache-2.0
// FrameMemory: the flag, the guided-filter coefficients and the pixels of one picture, in one block of device memory. A
// value that shares the block; any thread.
#pragma once

#include <memory>

#include "inference/cuda/pixels/pixels.h"
#include "inference/matting/guided_filter.h"

namespace matte {

class FrameMemory {
public:
    static std::size_t bytes(Size size, PixelFormat format) {
        Partition counted;
        FrameMemory().divide(counted, size, format);
        return counted.bytes();
    }

    FrameMemory() = default;
    /// `memory` has bytes(size, format).
    FrameMemory(Size size, PixelFormat format, std::shared_ptr<const DeviceBuffer> memory)
        : memory_(std::move(memory)) {
        Partition parts(memory_->data());
        divide(parts, size, format);
    }

    [[nodiscard]] const device::Source& picture() const { return picture_; }  ///< packed rows
    [[nodiscard]] std::byte* pixels() const { return pixels_; }               ///< the same, to be written
    [[nodiscard]] const device::GuidedCoefficients& guided() const { return guided_; }
    /// NonFiniteFlag::onDevice.
    [[nodiscard]] int* nonFinite() const { return nonFinite_; }

private:
    void divide(Partition& parts, Size size, PixelFormat format) {
        nonFinite_ = parts.take<int>(1);
        guided_.size = shrunkTo(size, kGuidedLongestSide);
        guided_.nonFinite = nonFinite_;
        for (float4** plane : {&guided_.coefficients, &guided_.foreground, &guided_.background, &guided_.blurred,
                               &guided_.linear, &guided_.wrap}) {
            *plane = parts.take<float4>(guided_.size.pixels());
        }
        pixels_ = parts.take<std::byte>(packedBytes(format, size));
        picture_ = {reinterpret_cast<const std::uint8_t*>(pixels_), size,
                    std::ptrdiff_t(packedStride(format, size.width)), format};
    }

    std::shared_ptr<const DeviceBuffer> memory_;
    int* nonFinite_ = nullptr;
    std::byte* pixels_ = nullptr;
    device::GuidedCoefficients guided_;
    device::Source picture_;
};

}  // namespace matte
