// SPDX-License-Identifier: Apache-2.0
// The background picture on the GPU, laid into the frame: uploaded once a picture, laid once a frame size and
// placement. One thread at a time, one stream.
#pragma once

#include "inference/cuda/pixels.h"
#include "inference/cuda/transfer.h"
#include "inference/look.h"

namespace matte {

class Plate {
public:
    /// rgba8 of `frame`; null when the background is no picture. Valid until the next call.
    const std::uint8_t* laid(const Background& background, Size frame, Transfer& transfer, cudaStream_t stream);

private:
    std::shared_ptr<const Image> picture_;  ///< what lies in uploaded_
    Background background_;                 ///< what is laid, if picture_ is not null
    Size frame_;
    DeviceBuffer uploaded_, laid_;
    device::Resampling resampling_;
};

}  // namespace matte
