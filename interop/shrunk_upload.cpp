// SPDX-License-Identifier: Apache-2.0
#include "interop/shrunk_upload.h"

#include <utility>

#include "inference/matting/source_rows.h"

namespace matte {
namespace {

bool isOpaqueEverywhere(const Image& picture) {
    if (picture.format() != PixelFormat::rgba8) return true;
    for (int y = 0; y < picture.size().height; ++y) {
        if (!isOpaque(picture.row(y), picture.size().width)) return false;
    }
    return true;
}

}  // namespace

void ShrunkUpload::take(std::shared_ptr<const Image> picture) {
    picture_ = std::move(picture);
    // Most are as the one before: what is opaque is found to be so while it is shrunk, and transparency in its first
    // rows.
    opaque_ = opaque_ || !picture_ || isOpaqueEverywhere(*picture_);
    uploaded_ = {};
    bytesUp_ = picture_ ? picture_->bytes() : 0;
}

bool ShrunkUpload::uploadAs(Size size, GlTexture& texture) {
    if (opaque_ && !(size == picture_->size()) && !(size == uploaded_)) {
        if (!(shrunk_.size() == size)) shrunk_ = Image(size, PixelFormat::rgba8);
        opaque_ = shrinker_.lay(picture_->view(), Placement::stretch, {}, shrunk_);
    }
    if (!opaque_) size = picture_->size();
    const bool whole = size == picture_->size();
    if (!(uploaded_ == size)) {
        const Image& image = whole ? *picture_ : shrunk_;
        texture.upload(image.view());
        uploaded_ = size;
        bytesUp_ = image.bytes();
    }
    return !whole;
}

}  // namespace matte
