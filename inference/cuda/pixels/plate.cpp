// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/pixels/plate.h"

namespace matte {
namespace {

/// Memory of `bytes`, the old one if it has as many.
void fit(DeviceBuffer& buffer, std::size_t bytes) {
    if (buffer.bytes() == bytes) return;
    buffer = DeviceBuffer();  // the old one first: both may not fit
    buffer = DeviceBuffer(bytes);
}

}  // namespace

void Plate::upload(const std::shared_ptr<const Image>& picture, StagedCopy& copy, cudaStream_t stream) {
    frame_ = {};
    picture_.reset();
    fit(uploaded_, picture->bytes());
    copy.upload(picture->row(0), picture->bytes(), uploaded_.data(), stream);
    picture_ = picture;
}

const std::uint8_t* Plate::laid(const Background& background, Size frame, StagedCopy& copy, cudaStream_t stream) {
    isNew_ = false;
    if (background.kind != Background::Kind::image || !background.image) return nullptr;
    if (picture_ != background.image) upload(background.image, copy, stream);
    if (!(frame_ == frame) || placement_ != background.placement || position_ != background.position ||
        !(color_ == background.color)) {
        frame_ = {};
        fit(laid_, frame.pixels() * 4);
        const Layout layout = layOut(picture_->size(), frame, background.placement, background.position);
        if (!(resampling_.from() == layout.seen) || !(resampling_.to() == layout.scaled)) {
            resampling_ = device::Resampling(layout.seen, layout.scaled);
            // The weights were copied by the default stream, for which this one does not wait.
            CUDA_CHECK(cudaStreamSynchronize(cudaStreamLegacy));
        }
        device::layPlate({uploaded_.as<std::uint8_t>(), picture_->size(), picture_->strideBytes(), picture_->format()},
                         layout, resampling_, frame, background.color, laid_.as<std::uint8_t>(), stream);
        placement_ = background.placement;
        position_ = background.position;
        color_ = background.color;
        frame_ = frame;
        isNew_ = true;
    }
    return laid_.as<std::uint8_t>();
}

}  // namespace matte
