// SPDX-License-Identifier: Apache-2.0
#include "tests/support/pictures/scene.h"

#include <algorithm>
#include <cmath>

#include "inference/core/pixel_math.h"

namespace matte::test {
namespace {

/// 1 inside the head and shoulders, 0 outside, with a soft rim, plus thin strands around the head.
float alphaAt(float x, float y) {
    const float head = std::hypot((x - 0.5F) / 0.17F, (y - 0.36F) / 0.22F);
    const float shoulders = std::hypot((x - 0.5F) / 0.38F, (y - 1.05F) / 0.48F);
    const float body = clampUnit((1 - std::min(head, shoulders)) * 40 + 0.5F);
    const float angle = std::atan2(y - 0.36F, x - 0.5F);
    const bool hair = head > 1 && head < 1.22F && y < 0.42F;
    const float strand = hair ? clampUnit(std::sin(angle * 50) * 3 - 1.6F) * (1.22F - head) / 0.22F : 0.0F;
    return std::max(body, strand);
}

}  // namespace

Scene makeScene(Size size) {
    Scene scene{Image(size, PixelFormat::rgba8), Planes(size, 1), Planes(size, 3),
                Planes({size.width / 8, size.height / 8}, 1)};
    for (int y = 0; y < size.height; ++y) {
        for (int x = 0; x < size.width; ++x) {
            const float u = (float(x) + 0.5F) / float(size.width), v = (float(y) + 0.5F) / float(size.height);
            const float alpha = alphaAt(u, v);
            const float room[3] = {0.05F, 0.5F + 0.3F * u, 0.1F + 0.1F * std::sin(9 * v)};
            const float person[3] = {0.35F + 0.1F * v, 0.08F, 0.06F + 0.04F * u};
            scene.alpha.row(y)[x] = alpha;
            scene.coarse.row(y / 8)[x / 8] += alpha / 64;
            for (int c = 0; c < 3; ++c) {
                scene.person.row(y)[3 * x + c] = person[c];
                scene.photo.row(y)[4 * x + c] =
                    std::uint8_t(std::lround(linearToSrgb(mix(room[c], person[c], alpha)) * 255));
            }
            scene.photo.row(y)[4 * x + 3] = 255;
        }
    }
    return scene;
}

}  // namespace matte::test
