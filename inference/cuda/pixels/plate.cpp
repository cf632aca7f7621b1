// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/pixels/plate.h"

namespace matte {

void Plate::upload(const std::shared_ptr<const Image>& picture, StagedCopy& copy, cudaStream_t stream) {
    frame_ = {};
    picture_.reset();
    if (uploaded_.bytes() != picture->bytes()) uploaded_.reallocate(picture->bytes());
    copy.upload(picture->row(0), picture->bytes(), uploaded_.data(), stream);
    picture_ = picture;
}

const std::uint8_t* Plate::laid(const Background& background, Size frame, StagedCopy& copy, cudaStream_t stream) {
    isNew_ = false;
    if (background.kind != Background::Kind::image || !background.image) return nullptr;
    if (picture_ != background.image) upload(background.image, copy, stream);
    if (frame_ == frame && laidFor_ == background) return laid_.as<std::uint8_t>();
    frame_ = {};
    if (laid_.bytes() != frame.pixels() * 4) laid_.reallocate(frame.pixels() * 4);
    const Layout layout = layOut(picture_->size(), frame, background.placement, background.position);
    resampling_.change(layout.seen, layout.scaled);
    device::layPlate({uploaded_.as<std::uint8_t>(), picture_->size(), picture_->strideBytes(), picture_->format()},
                     layout, resampling_, frame, background.color, laid_.as<std::uint8_t>(), stream);
    laidFor_ = background;
    frame_ = frame;
    isNew_ = true;
    return laid_.as<std::uint8_t>();
}

}  // namespace matte
