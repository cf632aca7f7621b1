// SPDX-License-Identifier: Apache-2.0
// Reads rows of a picture of any format as R, G, B, A bytes. Any thread.
#pragma once

#include <vector>

#include "inference/core/image.h"
#include "inference/core/pixel_math.h"

namespace matte {

/// Row y of `source`, size.width pixels: where it lies when it is rgba8, else converted into `buffer`.
const std::uint8_t* rgbaRow(const ImageView& source, int y, std::uint8_t* buffer);

/// Frames of a camera as rgba8, for several steps to read: memory is kept while the size stays. One frame at a time.
class RgbaFrame {
public:
    /// `source` itself when it is rgba8, else what it was converted to, valid until the next call. All threads work.
    ImageView of(const ImageView& source);

private:
    Image converted_;
};

/// Whether every pixel's alpha is 255.
bool isOpaque(const std::uint8_t* rgba, int width);

/// Rows of a picture as they are shown through `mapping`: sampled linearly, colours weighted by their
/// alpha, and transparent where nothing was seen. One thread.
class PlacedRows {
public:
    /// Allocates where the picture's size is new.
    void prepare(Size picture, const InverseMapping& mapping);
    /// Row y of what is shown, valid until the next call.
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
    bool whole_ = false;  ///< every tap is one whole pixel
    std::vector<Tap> across_;
    std::vector<std::uint8_t> above_, below_, out_;
    std::vector<float> mixed_;  ///< premultiplied when not opaque_
    bool opaque_ = true;
};

}  // namespace matte
