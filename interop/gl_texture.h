// SPDX-License-Identifier: Apache-2.0
// GlTexture: one picture in graphics memory. Every call: GUI thread, with the context current in which it was made.
#pragma once

#include "inference/core/image.h"
#include "interop/gl.h"

namespace matte {

/// Holds rgba8 with its colours premultiplied by alpha (so that filtering draws no fringe), bgr8, or gray8 (read as r,
/// r, r, 1). Storage is immutable where the context has it, and is kept as long as size and format stay the same.
class GlTexture {
public:
    explicit GlTexture(const GlFacts& facts) : facts_(facts) {}
    ~GlTexture() { release(); }
    GlTexture(const GlTexture&) = delete;
    GlTexture& operator=(const GlTexture&) = delete;

    /// Copies the picture through a pixel buffer. A picture with a side beyond the context's limit is averaged down
    /// first. Throws Error(engine).
    void upload(const ImageView& picture);
    /// Storage for CUDA to write; its pixels are undefined. Throws Error(engine).
    void allocate(Size size, PixelFormat format);
    /// The storage was written: its mipmaps are out of date.
    void changed() { mipmapped_ = false; }
    /// Makes the smaller copies that shrinking reads; once for each upload, and only where they are needed: a picture
    /// that was made for the view is not shrunk.
    void makeMipmaps();
    void bind(int unit) const;
    void release();
    [[nodiscard]] unsigned id() const { return texture_; }
    [[nodiscard]] bool empty() const { return texture_ == 0; }
    [[nodiscard]] Size size() const { return size_; }  ///< as stored

private:
    void copyRows(const ImageView& picture);

    GlFacts facts_;
    Size size_;
    PixelFormat format_ = PixelFormat::rgba8;
    unsigned texture_ = 0;
    bool mipmapped_ = false;
    unsigned unpackBuffer_ = 0;
};

}  // namespace matte
