// SPDX-License-Identifier: Apache-2.0
// The OpenGL of the current context: the program's only glewInit(), and what it found. GUI thread, context current.
//
//     GlFacts facts = initializeGl();   // in QOpenGLWidget::initializeGL()
#pragma once

#include <string>

namespace matte {

/// What the context can do. A plain value; any thread.
struct GlFacts {
    std::string renderer;           ///< the driver's name for the device
    std::string version;            ///< GL_VERSION
    std::string device;             ///< its UUID, 16 bytes, as CUDA has it too; empty where OpenGL does not tell
    int maxTextureSide = 0;         ///< pixels
    bool software = false;          ///< the processor draws
    bool immutableStorage = false;  ///< glTexStorage2D: OpenGL 4.2 or ARB_texture_storage
};

/// Loads the entry points of the current context; to be called again for each new context. Throws Error(engine) when it
/// offers less than OpenGL 3.3. GUI thread, context current.
GlFacts initializeGl();

/// Throws Error(engine) when OpenGL reported an error since the last call; `what` completes "The graphics driver could
/// not ...". GUI thread, context current.
void checkGl(const char* what);

/// How many objects OpenGL keeps for this context: textures, buffers, framebuffers, renderbuffers, samplers, vertex
/// arrays, programs and shaders. Finds those with small names, which every driver gives. Takes about a millisecond. GUI
/// thread, context current.
int countGlObjects();

}  // namespace matte
