// SPDX-License-Identifier: Apache-2.0
// The background picture on the GPU, laid into the frame: uploaded once a picture, laid once a frame size and
// placement, into memory that is kept while sizes stay. A video is one picture after another: each slot has a plate of
// its own, so that the next comes up while the other slot still reads the one before. One thread at a time, one stream.
#pragma once

#include "inference/core/composite_params.h"
#include "inference/cuda/device/staged_copy.h"
#include "inference/cuda/pixels/pixels.h"

namespace matte {

class Plate {
public:
    /// rgba8 of `frame`; null when the background is no picture. Valid until the next call. The picture that came up by
    /// the call before must have arrived, unless somebody holds it still.
    const std::uint8_t* laid(const Background& background, Size frame, StagedCopy& copy, cudaStream_t stream);
    /// Whether the last call had anything to do.
    [[nodiscard]] bool isNew() const { return isNew_; }

private:
    void upload(const std::shared_ptr<const Image>& picture, StagedCopy& copy, cudaStream_t stream);

    std::shared_ptr<const Image> picture_;  ///< what lies in uploaded_; its pixels may still be on the way
    Placement placement_ = Placement::fill;
    float position_ = 0.5F;
    Rgb color_;
    Size frame_;  ///< what is laid; none when empty
    bool isNew_ = false;
    DeviceBuffer uploaded_, laid_;
    device::Resampling resampling_;
};

}  // namespace matte
