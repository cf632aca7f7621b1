// SPDX-License-Identifier: Apache-2.0
// CudaGlTexture: a GlTexture to which pictures in the memory of a CUDA device are copied, not by way of the host. Every
// call: GUI thread, with the context current in which it was made. No call waits for the GPU.
//
//     CudaGlTexture texture(facts);
//     texture.copyFrom(*picture.device());
#pragma once

#include <memory>

#include "interop/gl_texture.h"

namespace matte {

struct DevicePicture;  // inference/cuda/device_picture.h

class CudaGlTexture {
public:
    explicit CudaGlTexture(const GlFacts& facts);
    ~CudaGlTexture();
    CudaGlTexture(const CudaGlTexture&) = delete;
    CudaGlTexture& operator=(const CudaGlTexture&) = delete;

    /// Enqueues the copy, behind the picture's last write and behind what OpenGL still draws from the texture; what
    /// OpenGL draws later comes after it. Throws Error(engine) when this context and the picture's device can't share
    /// memory; the sentence says why.
    void copyFrom(const DevicePicture& picture);
    /// Empty before the first copy.
    [[nodiscard]] GlTexture& texture() { return texture_; }
    void release();

private:
    struct Sharing;
    GlTexture texture_;
    std::unique_ptr<Sharing> sharing_;
};

}  // namespace matte
