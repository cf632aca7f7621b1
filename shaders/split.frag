#version 330 core
// SPDX-License-Identifier: Apache-2.0
// The line between before and after with its handle, over what is there (premultiplied alpha). Positions are in viewport
// pixels from the top left corner.
uniform vec2 viewport;
uniform vec2 middle;   // of the handle
uniform float ratio;   // viewport pixels in a logical pixel
out vec4 color;

// 1 inside, 0 outside, smooth over one viewport pixel; `distance` is signed and in logical pixels.
float inside(float distance) { return clamp(0.5 - distance * ratio, 0.0, 1.0); }

float chevrons(vec2 at) {
    vec2 q = abs(at);  // two strokes that meet at the tip, left and right alike
    float stroke = abs(10.0 - q.x - q.y) * 0.70711 - 0.9;
    return inside(max(stroke, max(q.y - 4.0, 5.0 - q.x)));
}

// Premultiplied `top` over premultiplied `under`.
vec4 over(vec4 under, vec4 top) { return top + (1.0 - top.a) * under; }

void main() {
    vec2 p = (vec2(gl_FragCoord.x, viewport.y - gl_FragCoord.y) - middle) / ratio;
    float line = abs(p.x) - 1.0, disc = length(p) - 15.0;
    float shadow = 1.0 - (1.0 - 0.22 * exp(-max(line, 0.0) * 0.6)) * (1.0 - 0.35 * exp(-max(disc, 0.0) * 0.35));
    vec4 result = vec4(vec3(0.0), shadow);
    result = over(result, vec4(1.0) * inside(line));
    result = over(result, vec4(vec3(0.98), 1.0) * inside(disc));
    color = over(result, vec4(0.16, 0.17, 0.2, 1.0) * chevrons(p));
}
