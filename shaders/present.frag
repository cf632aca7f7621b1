#version 330 core
// SPDX-License-Identifier: Apache-2.0
// Presents one picture: zoom and pan, and the checkerboard under transparency. Positions are in viewport pixels from the
// top left corner. Drawn once for each side of the split: a branch between two textures costs both of them on a CPU.
uniform vec2 viewport;
uniform vec2 origin;     // the picture's top left corner
uniform vec2 extent;     // the picture's size as drawn
uniform float cell;      // side of the checkerboard's squares
uniform vec3 checker[2];
uniform sampler2D picture;  // premultiplied alpha
out vec4 color;

void main() {
    vec2 at = vec2(gl_FragCoord.x, viewport.y - gl_FragCoord.y);
    vec4 texel = texture(picture, (at - origin) / extent);
    vec2 square = floor(at / cell);
    float odd = mod(square.x + square.y, 2.0);
    color = vec4(texel.rgb + (1.0 - texel.a) * mix(checker[0], checker[1], odd), 1.0);
}
