// SPDX-License-Identifier: Apache-2.0
// SyntheticPerson: a drawn person who waves in front of a drawn room, with exact alpha, to measure live accuracy and
// speed. Any thread; each call renders anew.
//   const SyntheticPerson person({1920, 1080}, 32);
//   person.drawFrame(7, frame);   person.alpha(7);
#pragma once

#include <cstdint>
#include <vector>

#include "inference/core/image.h"

namespace matte {

class SyntheticPerson {
public:
    /// The movement repeats after `loop` frames; frame numbers may be larger. `noise`: standard deviation of the camera
    /// noise, in levels of 255.
    SyntheticPerson(Size size, int loop, double noise = 2);

    /// The camera frame, bgr8: the cut-out over the room, mixed in linear light, plus noise. Deterministic for each
    /// (number, size). Throws Error(input) when `frame` has another size or format.
    void drawFrame(std::uint64_t number, Image& frame) const;
    /// The same without allocation: `scratch` is rgba8 and receives the cut-out.
    void drawFrame(std::uint64_t number, Image& frame, Image& scratch) const;
    /// The person alone, rgba8, straight alpha; the edge is soft at the hair and one pixel wide elsewhere.
    [[nodiscard]] Image cutout(std::uint64_t number) const;
    /// Only its alpha, gray8.
    [[nodiscard]] Image alpha(std::uint64_t number) const;
    /// The room without the person and without noise, bgr8.
    [[nodiscard]] const Image& room() const { return room_; }

private:
    void drawCutout(std::uint64_t number, Image& cutout) const;

    Size size_;
    int loop_;
    Image room_;
    std::vector<std::int8_t> noise_;  // kNoise values and one more row, so that rows can start anywhere
};

}  // namespace matte
