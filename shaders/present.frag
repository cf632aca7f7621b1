#version 330 core
// SPDX-License-Identifier: Apache-2.0
// Presents a picture before and after: letterbox, zoom, checkerboard under transparency, split line. Positions are in
// viewport pixels from the top left corner; pictures hold premultiplied alpha.
uniform vec2 viewport;
uniform vec2 origin;      // the picture's top left corner
uniform vec2 extent;      // the picture's size as drawn; 0 when there is none
uniform float split;      // before is left of here
uniform bool handle;      // whether the split's line and handle are drawn
uniform float ratio;      // viewport pixels in a logical pixel
uniform vec3 surround;
uniform vec3 checker[2];
uniform sampler2D before;
uniform sampler2D after;
out vec4 color;

vec3 picture(vec2 at) {
    vec2 uv = (at - origin) / extent;
    // The derivatives are the same everywhere; the implicit ones would be wrong along the split.
    vec2 dx = vec2(1.0 / extent.x, 0.0), dy = vec2(0.0, 1.0 / extent.y);
    vec4 texel = at.x < split ? textureGrad(before, uv, dx, dy) : textureGrad(after, uv, dx, dy);
    vec2 cell = floor(at / (8.0 * ratio));
    return texel.rgb + (1.0 - texel.a) * checker[int(mod(cell.x + cell.y, 2.0))];
}

// 1 inside, 0 outside, smooth over one viewport pixel; `distance` is signed and in viewport pixels.
float inside(float distance) { return clamp(0.5 - distance, 0.0, 1.0); }

float chevron(vec2 at) {
    vec2 q = abs(at);  // two strokes that meet at the tip, left and right alike
    float along = 10.0 - q.x - q.y;
    float stroke = abs(along) * 0.70711 - 0.9;
    return inside(max(stroke, max(q.y - 4.0, 5.0 - q.x)) * ratio);
}

// As tall as what is seen of the picture, with the disc in its middle.
vec3 splitHandle(vec3 under, vec2 at) {
    float top = max(origin.y, 0.0), bottom = min(origin.y + extent.y, viewport.y);
    if (at.y < top || at.y > bottom) return under;
    vec2 p = vec2(at.x - split, at.y - floor(0.5 * (top + bottom))) / ratio;  // logical pixels from the disc's middle
    float line = abs(p.x);
    float disc = length(p);
    vec3 result = under * (1.0 - 0.22 * exp(-max(line - 1.0, 0.0) * 0.6));
    result *= 1.0 - 0.35 * exp(-max(disc - 15.0, 0.0) * 0.35);
    result = mix(result, vec3(1.0), inside((line - 1.0) * ratio));
    result = mix(result, vec3(0.98), inside((disc - 15.0) * ratio));
    return mix(result, vec3(0.16, 0.17, 0.2), chevron(p));
}

void main() {
    vec2 at = vec2(gl_FragCoord.x, viewport.y - gl_FragCoord.y);
    bool within = all(greaterThanEqual(at, origin)) && all(lessThan(at, origin + extent));
    vec3 result = within ? picture(at) : surround;
    bool nearHandle = handle && abs(at.x - split) < 40.0 * ratio;
    color = vec4(nearHandle ? splitHandle(result, at) : result, 1.0);
}
