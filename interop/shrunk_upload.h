// SPDX-License-Identifier: Apache-2.0
// ShrunkUpload: scales live pictures down on the CPU before the upload, for a software renderer: mipmaps would take it
// several times as long, on the processor that the engine needs. GUI thread, context current.
#pragma once

#include <memory>

#include "inference/core/image.h"
#include "inference/matting/resample.h"
#include "interop/gl_texture.h"

namespace matte {

class ShrunkUpload {
public:
    /// The picture to show. It is uploaded once its size on the screen is known. Null is none.
    void take(std::shared_ptr<const Image> picture);
    /// The newest picture's; empty where there is none.
    [[nodiscard]] Size size() const { return picture_ ? picture_->size() : Size{}; }
    /// Uploads the newest picture at `size`, if that was not done yet. Returns false when the texture has the picture's
    /// own size, because a transparent picture is not scaled. Throws Error.
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
