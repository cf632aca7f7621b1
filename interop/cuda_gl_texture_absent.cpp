// SPDX-License-Identifier: Apache-2.0
// For a program that was built without CUDA: no picture is ever on a device.
#include "inference/core/error.h"
#include "interop/cuda_gl_texture.h"

namespace matte {

struct CudaGlTexture::Sharing {};

CudaGlTexture::CudaGlTexture(const GlFacts& facts) : texture_(facts) {}
CudaGlTexture::~CudaGlTexture() = default;

void CudaGlTexture::copyFrom(const DevicePicture&) {
    throw Error(ErrorCategory::engine, "This program was built without CUDA.");
}

void CudaGlTexture::release() {
    texture_.release();
}

}  // namespace matte
