// SPDX-License-Identifier: Apache-2.0
// Resampling on the CPU: exact area averages when shrinking, linear interpolation when enlarging; pixel centres are at
// half-integer coordinates. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "inference/core/composite_params.h"
#include "inference/core/image.h"

namespace matte {

/// Changes the shape of `planes`, leaving its values undefined. Allocates only to grow.
void reshape(Planes& planes, Size size, int channels);

/// `source` at `size` as [H, W, 3] R, G, B, sRGB-encoded, 0 to 1; transparent pixels are over white.
Planes resampleToPlanes(const ImageView& source, Size size);

/// `source` (any format but gray8) at `size` as rgba8. Colours are weighted by their alpha.
Image resampleToImage(const ImageView& source, Size size);

/// Linear interpolation of `source` to `size`.
Planes resamplePlanes(const Planes& source, Size size);

/// Which part of a picture is visible in a frame, and where. If their aspect ratios differ, the picture is cropped
/// (fill) or leaves bars (fit) along one axis; `position` aligns it there, from 0 (left or top) to 1 (right or bottom).
struct Layout {
    int seenX = 0, seenY = 0;
    Size seen;  ///< visible part of the picture, in its pixels
    int left = 0, top = 0;
    Size scaled;  ///< its place in the frame, in the frame's pixels
};
Layout layOut(Size picture, Size frame, Placement placement, float position = 0.5F);

/// `picture` in a frame of `size` by `placement`: rgba8, opaque; bars and transparent areas have `color`.
Image layInto(const ImageView& picture, Size size, Placement placement, Rgb color, float position = 0.5F);

/// The inputs of each output along one axis, and their weights, which sum to 1.
struct Taps {
    Taps(int inputs, int outputs);
    struct Span {
        int first = 0, count = 0;
    };
    std::vector<Span> spans;
    std::vector<float> weights;  ///< `stride` per output
    int stride = 0;
    [[nodiscard]] const float* at(int output) const {
        return weights.data() + std::size_t(output) * std::size_t(stride);
    }
};

/// resamplePlanes() for repeated use: keeps its tables while the sizes stay the same. One thread at a time.
class PlaneResampler {
public:
    void resample(const Planes& source, Size size, Planes& target);

private:
    Size from_, to_;
    Taps across_{1, 1}, down_{1, 1};
    std::vector<float> sums_;  ///< one source row per thread
};

/// The vertical pass of resampling: weighted sums of the source rows for each output row. One frame at a time.
class RowSums {
public:
    /// Allocates only for new sizes.
    void prepare(Size from, Size to);
    /// Row y of the output at the source's width: R, G, B, A, premultiplied, 0 to 255. Valid until the next call for
    /// this worker of parallelFor().
    const float* row(const ImageView& source, int y, int worker);
    [[nodiscard]] const Taps& across() const { return across_; }
    /// Whether all rows since prepare() were opaque.
    [[nodiscard]] bool opaque() const { return opaque_.load(std::memory_order_relaxed); }

private:
    Size from_, to_;
    Taps across_{1, 1}, down_{1, 1};
    std::atomic<bool> opaque_ = true;
    std::vector<float> sums_;         ///< one source row per thread, R, G, B, A
    std::vector<std::uint8_t> rows_;  ///< the same as bytes
};

/// resampleToPlanes() for camera frames: keeps its memory while the sizes stay the same. One thread at a time.
class FrameShrinker {
public:
    void shrink(const ImageView& source, Size size, Planes& target);

private:
    RowSums sums_;
};

/// layInto() for video frames: keeps its memory while the sizes stay the same. One thread at a time.
class PictureLayer {
public:
    /// `all` is fastest; the GUI thread uses `callingOne`, so as not to wait for busy helpers.
    enum class Threads : std::uint8_t { all, callingOne };
    explicit PictureLayer(Threads threads = Threads::all) : threads_(threads) {}
    /// Fills `frame`, rgba8, at its size. Returns whether the visible part of the picture was opaque.
    bool lay(const ImageView& picture, Placement placement, Rgb color, Image& frame, float position = 0.5F);

private:
    Threads threads_;
    RowSums sums_;
};

}  // namespace matte
