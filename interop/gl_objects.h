// SPDX-License-Identifier: Apache-2.0
// How many objects OpenGL keeps for this context: what a run of many frames must not raise. GUI thread, context
// current.
#pragma once

namespace matte {

/// Textures, buffers, framebuffers, renderbuffers, samplers, vertex arrays, programs and shaders, whoever made them, as
/// far as their names are small, as those of every driver are. Takes a millisecond or so: not for every frame.
int countGlObjects();

}  // namespace matte
