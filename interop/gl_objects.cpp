// SPDX-License-Identifier: Apache-2.0
#include "interop/gl_objects.h"

#include <GL/glew.h>

namespace matte {

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
