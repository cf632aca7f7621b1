// SPDX-License-Identifier: Apache-2.0
// ShrunkUpload: live pictures that are drawn smaller than they are, made small on the CPU before they are uploaded.
// A software renderer takes several times as long to make mipmaps of each and to look them up, on the same processor
// that makes the pictures. GUI thread, context current.
#pragma once

#include <memory>

#include "inference/core/image.h"
#include "inference/matting/resample.h"
#include "interop/gl_texture.h"

namespace matte {

class ShrunkUpload {
public:
    /// From now on this one is shown; it is uploaded when its size on the screen is known. Null: none is.
    void take(std::shared_ptr<const Image> picture);
    /// The newest picture's; empty where there is none.
    [[nodiscard]] Size size() const { return picture_ ? picture_->size() : Size{}; }
    /// Uploads the newest picture as `size`, where that was not done yet. True when it now has that size pixel for
    /// pixel; false when it has its own, because shrinking would lose its transparency. Throws Error.
    bool uploadAs(Size size, GlTexture& texture);
    /// To the graphics driver, of the newest picture.
    [[nodiscard]] std::size_t bytesUp() const { return bytesUp_; }

private:
    std::shared_ptr<const Image> picture_;
    bool opaque_ = true;
    Size uploaded_;  ///< as what; none yet where empty
    std::size_t bytesUp_ = 0;
    PictureLayer shrinker_{PictureLayer::Threads::callingOne};
    Image shrunk_;
};

}  // namespace matte
