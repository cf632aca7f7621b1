// SPDX-License-Identifier: Apache-2.0
// FrameMemory: one picture and what is found out about it, in one piece of device memory. A value that shares the
// memory; any thread.
#pragma once

#include <memory>

#include "inference/cuda/pixels/pixels.h"
#include "inference/matting/refine.h"

namespace matte {

class FrameMemory {
public:
    static std::size_t bytes(Size size, PixelFormat format) {
        return kAlarmBytes + planeBytes(gridOf(size)) + packedBytes(format, size);
    }

    FrameMemory() = default;
    /// `memory` has bytes(size, format).
    FrameMemory(Size size, PixelFormat format, std::shared_ptr<const DeviceBuffer> memory)
        : memory_(std::move(memory)) {
        fields_.size = gridOf(size);
        fields_.alarm = alarm();
        auto* plane = reinterpret_cast<float4*>(memory_->data() + kAlarmBytes);
        for (float4** part : {&fields_.coefficients, &fields_.foreground, &fields_.background, &fields_.blurred,
                              &fields_.linear, &fields_.wrap}) {
            *part = plane;
            plane += fields_.size.pixels();
        }
        picture_ = {memory_->as<std::uint8_t>() + kAlarmBytes + planeBytes(fields_.size), size,
                    std::ptrdiff_t(packedStride(format, size.width)), format};
    }

    [[nodiscard]] const device::Source& picture() const { return picture_; }  ///< packed rows
    [[nodiscard]] std::byte* pixels() const { return memory_->data() + (memory_->bytes() - pictureBytes()); }
    [[nodiscard]] std::size_t pictureBytes() const { return packedBytes(picture_.format, picture_.size); }
    [[nodiscard]] const device::Fields& fields() const { return fields_; }
    /// MatteAlarm::onDevice.
    [[nodiscard]] int* alarm() const { return memory_->as<int>(); }

private:
    static constexpr std::size_t kAlarmBytes = 256;  // so that what follows is aligned
    static Size gridOf(Size size) { return shrunkTo(size, kFieldLongestSide); }
    static std::size_t planeBytes(Size grid) { return grid.pixels() * sizeof(float4) * device::Fields::kPlanes; }

    std::shared_ptr<const DeviceBuffer> memory_;
    device::Fields fields_;
    device::Source picture_;
};

}  // namespace matte
