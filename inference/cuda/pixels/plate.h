// SPDX-License-Identifier: Apache-2.0
// Plate: the background picture on the GPU, fitted to the frame. It is uploaded once per picture and fitted once per
// frame size and placement; memory is kept while sizes stay the same. Each slot has its own plate, so that the next
// picture of a video is uploaded while the other slot still reads the previous one. One thread at a time, one stream.
#pragma once

#include "inference/core/composite_params.h"
#include "inference/cuda/device/staged_copy.h"
#include "inference/cuda/pixels/pixels.h"

namespace matte {

class Plate {
public:
    /// The plate in device memory, rgba8 of size `frame`; null if the background is not a picture. Valid until the next
    /// call. The previous call's upload must be complete, unless its picture is held elsewhere.
    const std::uint8_t* laid(const Background& background, Size frame, StagedCopy& copy, cudaStream_t stream);
    /// Whether the last call changed the plate.
    [[nodiscard]] bool isNew() const { return isNew_; }

private:
    void upload(const std::shared_ptr<const Image>& picture, StagedCopy& copy, cudaStream_t stream);

    std::shared_ptr<const Image> picture_;  ///< content of uploaded_; the upload may still be running
    Background laidFor_;
    Size frame_;  ///< size of the plate; empty: none
    bool isNew_ = false;
    DeviceBuffer uploaded_, laid_;
    device::Resampling resampling_;
};

}  // namespace matte
