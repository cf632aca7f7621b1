// SPDX-License-Identifier: Apache-2.0
// A drawn person who waves in front of a drawn room, with the alpha that is exactly right: what live accuracy and speed
// are measured with. Any thread; each call draws anew.
//   const SyntheticPerson person({1920, 1080}, 32);
//   person.drawFrame(7, frame);   person.alpha(7);
#pragma once

#include <cstdint>
#include <vector>

#include "inference/core/image.h"

namespace matte {

class SyntheticPerson {
public:
    /// The movement repeats itself after `loop` frames; frame numbers may be larger. `noise` is the camera's, as a
    /// standard deviation in levels of 255.
    SyntheticPerson(Size size, int loop, double noise = 2);

    /// What the camera sees, bgr8: the cutout over the room, mixed in linear light, and the noise. The same for each
    /// (number, size). Throws Error(input) when `frame` is of another size or format.
    void drawFrame(std::uint64_t number, Image& frame) const;
    /// The same for a caller who keeps the cutout's memory: `scratch` is rgba8 and becomes the cutout.
    void drawFrame(std::uint64_t number, Image& frame, Image& scratch) const;
    /// The person alone, rgba8, straight alpha: soft at the hair, a pixel wide elsewhere.
    [[nodiscard]] Image cutout(std::uint64_t number) const;
    /// Its alpha alone, gray8.
    [[nodiscard]] Image alpha(std::uint64_t number) const;
    /// The room without the person and without noise, bgr8.
    [[nodiscard]] const Image& room() const { return room_; }

private:
    void drawCutout(std::uint64_t number, Image& cutout) const;

    Size size_;
    int loop_;
    Image room_;
    std::vector<std::int8_t> noise_;  // kNoise values, and a row more so that rows can begin anywhere
};

}  // namespace matte
