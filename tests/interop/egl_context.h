// SPDX-License-Identifier: Apache-2.0
// An OpenGL context without a window, on the GPU where it has a driver and in software elsewhere, and a framebuffer
// that can be read back. One thread.
#pragma once

#include <memory>
#include <string>

#include "inference/core/image.h"

namespace matte::test {

class EglContext {
public:
    /// Null when EGL offers no OpenGL 3.3 core context; `reason` says why.
    static std::unique_ptr<EglContext> create(std::string& reason);
    ~EglContext();
    EglContext(const EglContext&) = delete;
    EglContext& operator=(const EglContext&) = delete;

    /// Binds a framebuffer of `size`, to be called once the entry points are loaded.
    void bindFramebuffer(Size size);
    /// What was drawn into it, rgba8, top row first.
    [[nodiscard]] Image read() const;

private:
    EglContext(void* display, void* context) : display_(display), context_(context) {}
    void *display_, *context_;
    Size size_;
};

}  // namespace matte::test
