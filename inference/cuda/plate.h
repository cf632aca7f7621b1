// SPDX-License-Identifier: Apache-2.0
// The background picture on the GPU, laid into the frame: uploaded once a picture, laid once a frame size and
// placement, into memory that is kept while sizes stay. One thread at a time, one stream.
#pragma once

#include "inference/cuda/pixels.h"
#include "inference/cuda/staged_copy.h"
#include "inference/look.h"

namespace matte {

class Plate {
public:
    /// rgba8 of `frame`; null when the background is no picture. Valid until the next call.
    const std::uint8_t* laid(const Background& background, Size frame, StagedCopy& copy, cudaStream_t stream);

private:
    void upload(const std::shared_ptr<const Image>& picture, StagedCopy& copy, cudaStream_t stream);

    std::shared_ptr<const Image> picture_;  ///< what lies in uploaded_; its pixels may still be on the way
    Placement placement_ = Placement::fill;
    Rgb color_;
    Size frame_;  ///< what is laid; none when empty
    DeviceBuffer uploaded_, laid_;
    device::Resampling resampling_;
};

}  // namespace matte
