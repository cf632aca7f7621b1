// SPDX-License-Identifier: Apache-2.0
#include "tests/interop/egl_context.h"

#include <GL/glew.h>

#include <EGL/egl.h>
#include <EGL/eglext.h>

#include <array>

namespace matte::test {
namespace {

/// Devices come in the driver's order: a GPU's before the software's.
EGLDisplay openDisplay() {
    const auto queryDevices = reinterpret_cast<PFNEGLQUERYDEVICESEXTPROC>(eglGetProcAddress("eglQueryDevicesEXT"));
    const auto platformDisplay =
        reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(eglGetProcAddress("eglGetPlatformDisplayEXT"));
    std::array<EGLDeviceEXT, 16> devices{};
    EGLint count = 0;
    if (queryDevices && platformDisplay && queryDevices(EGLint(devices.size()), devices.data(), &count)) {
        for (EGLint i = 0; i < count; ++i) {
            const EGLDisplay display = platformDisplay(EGL_PLATFORM_DEVICE_EXT, devices[std::size_t(i)], nullptr);
            if (display != EGL_NO_DISPLAY && eglInitialize(display, nullptr, nullptr)) return display;
        }
    }
    return EGL_NO_DISPLAY;
}

}  // namespace

std::unique_ptr<EglContext> EglContext::create(std::string& reason) {
    const EGLDisplay display = openDisplay();
    if (display == EGL_NO_DISPLAY) {
        reason = "EGL has no display without a window here";
        return nullptr;
    }
    const EGLint wanted[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_NONE};
    const EGLint version[] = {
        EGL_CONTEXT_MAJOR_VERSION,           3,       EGL_CONTEXT_MINOR_VERSION, 3, EGL_CONTEXT_OPENGL_PROFILE_MASK,
        EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE};
    EGLConfig config = nullptr;
    EGLint configs = 0;
    eglBindAPI(EGL_OPENGL_API);
    eglChooseConfig(display, wanted, &config, 1, &configs);
    const EGLContext context = configs > 0 ? eglCreateContext(display, config, EGL_NO_CONTEXT, version) : nullptr;
    if (!context || !eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) {
        reason = "EGL gives no OpenGL 3.3 context here";
        return nullptr;
    }
    return std::unique_ptr<EglContext>(new EglContext(display, context));
}

EglContext::~EglContext() {
    eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(display_, context_);
}

// Goes with its context.
void EglContext::bindFramebuffer(Size size) {
    size_ = size;
    GLuint framebuffer = 0, color = 0;
    glGenFramebuffers(1, &framebuffer);
    glGenRenderbuffers(1, &color);
    glBindRenderbuffer(GL_RENDERBUFFER, color);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, size.width, size.height);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, color);
}

Image EglContext::read() const {
    Image image(size_, PixelFormat::rgba8);
    for (int y = 0; y < size_.height; ++y) {
        glReadPixels(0, size_.height - 1 - y, size_.width, 1, GL_RGBA, GL_UNSIGNED_BYTE, image.row(y));
    }
    return image;
}

}  // namespace matte::test
