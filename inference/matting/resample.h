// SPDX-License-Identifier: Apache-2.0
// Resampling on the CPU: exact area averages when shrinking, linear interpolation when growing, pixel centres at half.
// Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "inference/core/composite_params.h"
#include "inference/core/image.h"

namespace matte {

/// Gives `planes` another size; its values are undefined then. Allocates only to grow.
void reshape(Planes& planes, Size size, int channels);

/// `source` at `size` as [H, W, 3] R, G, B in 0 to 1, sRGB-encoded; what is transparent shows white.
Planes resampleToPlanes(const ImageView& source, Size size);

/// `source` (any format but gray8) at `size` as rgba8; colours are weighted by their alpha, so that what is transparent
/// has no say.
Image resampleToImage(const ImageView& source, Size size);

/// Linear interpolation of `source` to `size`.
Planes resamplePlanes(const Planes& source, Size size);

/// Which part of a picture shows in a frame, and where in the frame it comes to lie. A picture of another shape than
/// the frame's sticks out (fill) or leaves room (fit) along one axis: `position` says where it lies there, 0 to 1, from
/// its left or upper end to the other.
struct Layout {
    int seenX = 0, seenY = 0;
    Size seen;  ///< of the picture
    int left = 0, top = 0;
    Size scaled;  ///< of the frame
};
Layout layOut(Size picture, Size frame, Placement placement, float position = 0.5F);

/// `picture` laid into a frame of `size` by `placement`: rgba8, opaque, bars and transparent places in `color`.
Image layInto(const ImageView& picture, Size size, Placement placement, Rgb color, float position = 0.5F);

/// For each of `outputs` positions along one axis: which inputs it reads and with which weights, which sum to 1.
struct Taps {
    Taps(int inputs, int outputs);
    struct Span {
        int first = 0, count = 0;
    };
    std::vector<Span> spans;
    std::vector<float> weights;  ///< `stride` for each output
    int stride = 0;
    [[nodiscard]] const float* at(int output) const {
        return weights.data() + std::size_t(output) * std::size_t(stride);
    }
};

/// resamplePlanes() again and again: what it needs is kept while the sizes stay. One thread at a time.
class PlaneResampler {
public:
    void resample(const Planes& source, Size size, Planes& target);

private:
    Size from_, to_;
    Taps across_{1, 1}, down_{1, 1};
    std::vector<float> sums_;  ///< a row of the source for each thread
};

/// The first step of resampling frame after frame: the sums of the source's rows that make an output row. One frame at
/// a time.
class RowSums {
public:
    /// Allocates where the sizes are new.
    void prepare(Size from, Size to);
    /// For row y of the output: R, G, B, A, premultiplied, 0 to 255, of each of the source's columns. Valid until the
    /// next call for this worker of parallelFor().
    const float* row(const ImageView& source, int y, int worker);
    [[nodiscard]] const Taps& across() const { return across_; }
    /// Whether every row since prepare() was.
    [[nodiscard]] bool opaque() const { return opaque_.load(std::memory_order_relaxed); }

private:
    Size from_, to_;
    Taps across_{1, 1}, down_{1, 1};
    std::atomic<bool> opaque_ = true;
    std::vector<float> sums_;         ///< a row of the source for each thread, R, G, B, A
    std::vector<std::uint8_t> rows_;  ///< the same in bytes
};

/// resampleToPlanes() for frames of a camera, one after another: what it needs is kept while the sizes stay. One thread
/// at a time.
class FrameShrinker {
public:
    void shrink(const ImageView& source, Size size, Planes& target);

private:
    RowSums sums_;
};

/// layInto() for frames of a video, one after another, likewise.
class PictureLayer {
public:
    /// All of them are quickest; the GUI thread does better not to wait for others that have much to do.
    enum class Threads : std::uint8_t { all, callingOne };
    explicit PictureLayer(Threads threads = Threads::all) : threads_(threads) {}
    /// `frame` is rgba8 and has its size. Returns whether all of the picture that is seen was opaque.
    bool lay(const ImageView& picture, Placement placement, Rgb color, Image& frame, float position = 0.5F);

private:
    Threads threads_;
    RowSums sums_;
};

}  // namespace matte
