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
        return kFlagBytes + planeBytes(gridOf(size)) + packedBytes(format, size);
    }

    FrameMemory() = default;
    /// `memory` has bytes(size, format).
    FrameMemory(Size size, PixelFormat format, std::shared_ptr<const DeviceBuffer> memory)
        : memory_(std::move(memory)) {
        guided_.size = gridOf(size);
        guided_.nonFinite = nonFinite();
        auto* plane = reinterpret_cast<float4*>(memory_->data() + kFlagBytes);
        for (float4** part : {&guided_.coefficients, &guided_.foreground, &guided_.background, &guided_.blurred,
                              &guided_.linear, &guided_.wrap}) {
            *part = plane;
            plane += guided_.size.pixels();
        }
        picture_ = {memory_->as<std::uint8_t>() + kFlagBytes + planeBytes(guided_.size), size,
                    std::ptrdiff_t(packedStride(format, size.width)), format};
    }

    [[nodiscard]] const device::Source& picture() const { return picture_; }  ///< packed rows
    [[nodiscard]] std::byte* pixels() const { return memory_->data() + (memory_->bytes() - pictureBytes()); }
    [[nodiscard]] std::size_t pictureBytes() const { return packedBytes(picture_.format, picture_.size); }
    [[nodiscard]] const device::GuidedCoefficients& guided() const { return guided_; }
    /// NonFiniteFlag::onDevice.
    [[nodiscard]] int* nonFinite() const { return memory_->as<int>(); }

private:
    static constexpr std::size_t kFlagBytes = 256;  // keeps the planes aligned
    static Size gridOf(Size size) { return shrunkTo(size, kGuidedLongestSide); }
    static std::size_t planeBytes(Size grid) {
        return grid.pixels() * sizeof(float4) * device::GuidedCoefficients::kPlanes;
    }

    std::shared_ptr<const DeviceBuffer> memory_;
    device::GuidedCoefficients guided_;
    device::Source picture_;
};

}  // namespace matte
