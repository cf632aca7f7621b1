#version 330 core
// SPDX-License-Identifier: Apache-2.0
// A strip of two triangles over the whole viewport, made from the vertex number alone.
void main() {
    gl_Position = vec4(gl_VertexID % 2 == 0 ? -1.0 : 1.0, gl_VertexID < 2 ? -1.0 : 1.0, 0.0, 1.0);
}
