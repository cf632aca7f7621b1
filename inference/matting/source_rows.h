// SPDX-License-Identifier: Apache-2.0
// Converts rows of any picture format to R, G, B, A bytes. Any thread.
#pragma once

#include <vector>

#include "inference/core/image.h"
#include "inference/core/pixel_math.h"

namespace matte {

/// Row y of `source`, size.width pixels: in place for rgba8, else converted into `buffer`.
const std::uint8_t* rgbaRow(const ImageView& source, int y, std::uint8_t* buffer);

/// Camera frames as rgba8, converted once for several steps; keeps its memory while the size stays the same. One frame
/// at a time.
class RgbaFrame {
public:
    /// `source` itself if it is rgba8, else the converted frame, valid until the next call. Uses parallel.h's threads.
    ImageView of(const ImageView& source);

private:
    Image converted_;
};

/// Whether every pixel's alpha is 255.
bool isOpaque(const std::uint8_t* rgba, int width);

/// Rows of a picture under a subject transform: linear interpolation, colours weighted by their alpha, transparent
/// outside the picture. One thread.
class PlacedRows {
public:
    /// Allocates only for a new size.
    void prepare(Size picture, const InverseMapping& mapping);
    /// Output row y, valid until the next call.
    const std::uint8_t* row(const ImageView& source, int y);

private:
    struct Tap {
        int first = 0, second = 0;
        float amount = 0;
        bool seen = false;
    };
    static Tap tapAt(float at, int pixels);
    void mixRows(const std::uint8_t* above, const std::uint8_t* below, float amount);

    Size picture_;
    InverseMapping mapping_;
    bool whole_ = false;  ///< every tap reads exactly one pixel
    std::vector<Tap> across_;
    std::vector<std::uint8_t> above_, below_, out_;
    std::vector<float> mixed_;  ///< premultiplied when not opaque_
    bool opaque_ = true;
};

}  // namespace matte
