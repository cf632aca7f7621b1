#version 330 core
// SPDX-License-Identifier: Apache-2.0
// Presents an opaque picture that has just the size it is drawn at: each of its pixels is one of the viewport.
uniform vec2 corner;  // the picture's top left corner, in viewport pixels from the bottom left
uniform sampler2D picture;
out vec4 color;

void main() {
    color = texelFetch(picture, ivec2(gl_FragCoord.x - corner.x, corner.y - gl_FragCoord.y), 0);
}
