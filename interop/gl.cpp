// SPDX-License-Identifier: Apache-2.0
#include "interop/gl.h"

#include <GL/glew.h>

#include <algorithm>
#include <string_view>

#include "inference/core/error.h"

namespace matte {
namespace {

std::string text(unsigned name) {
    const auto* value = reinterpret_cast<const char*>(glGetString(name));
    return value ? value : "";
}

// GLEW built for GLX reports NO_GLX_DISPLAY in an EGL context (Wayland) after it has loaded everything.
bool loadedEntryPoints() {
    glewExperimental = GL_TRUE;
    const GLenum result = glewInit();
    if (result != GLEW_OK && result != GLEW_ERROR_NO_GLX_DISPLAY) return false;
    return glCreateShader && glGenVertexArrays && glMapBufferRange && glGenerateMipmap && glGenSamplers;
}

std::string deviceOfContext() {
    if (!GLEW_EXT_memory_object || !glGetUnsignedBytei_vEXT) return {};
    GLubyte uuid[GL_UUID_SIZE_EXT] = {};
    glGetUnsignedBytei_vEXT(GL_DEVICE_UUID_EXT, 0, uuid);
    if (glGetError() != GL_NO_ERROR) return {};
    return {reinterpret_cast<const char*>(uuid), sizeof uuid};
}

bool drawnByProcessor(std::string_view renderer) {
    constexpr std::string_view kNames[] = {
        "llvmpipe",   "softpipe", "swrast", "Software Rasterizer", "SwiftShader", "Microsoft Basic Render",
        "GDI Generic"};
    return std::ranges::any_of(kNames, [&](auto name) { return renderer.find(name) != renderer.npos; });
}

}  // namespace

GlFacts initializeGl() {
    const bool loaded = loadedEntryPoints();
    while (glGetError() != GL_NO_ERROR) {  // glewInit() asks for GL_EXTENSIONS, an error in a core context
    }
    GLint major = 0, minor = 0;
    glGetIntegerv(GL_MAJOR_VERSION, &major);
    glGetIntegerv(GL_MINOR_VERSION, &minor);
    GlFacts facts{text(GL_RENDERER), text(GL_VERSION), {}};
    if (!loaded || major * 10 + minor < 33) {
        const std::string offered = facts.version.empty() ? "no OpenGL" : "OpenGL " + facts.version;
        throw Error(ErrorCategory::engine,
                    "The graphics driver offers " + offered +
                        " and Matte needs 3.3: update the driver, or start with LIBGL_ALWAYS_SOFTWARE=1.");
    }
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &facts.maxTextureSide);
    facts.device = deviceOfContext();
    facts.software = drawnByProcessor(facts.renderer);
    facts.immutableStorage = (GLEW_VERSION_4_2 || GLEW_ARB_texture_storage) && glTexStorage2D;
    return facts;
}

void checkGl(const char* what) {
    const GLenum first = glGetError();
    if (first == GL_NO_ERROR) return;
    // Bounded: a lost context reports errors for ever.
    for (int i = 0; i < 8 && glGetError() != GL_NO_ERROR; ++i) {
    }
    const bool memory = first == GL_OUT_OF_MEMORY;
    throw Error(ErrorCategory::engine,
                "The graphics driver could not " + std::string(what) +
                    (memory ? " for lack of memory: close other programs or open a smaller photo."
                            : " (OpenGL error " + std::to_string(first) + "): update the driver."));
}

int countGlObjects() {
    constexpr GLuint kNames = 4096;
    int count = 0;
    for (GLuint name = 1; name < kNames; ++name) {
        count += glIsTexture(name) + glIsBuffer(name) + glIsFramebuffer(name) + glIsRenderbuffer(name) +
                 glIsSampler(name) + glIsVertexArray(name) + glIsProgram(name) + glIsShader(name);
    }
    return count;
}

}  // namespace matte
