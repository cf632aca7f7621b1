// SPDX-License-Identifier: Apache-2.0
// How steady the mattes of neighbouring frames are. One thread at a time.
//     SequenceMeter meter;
//     while (...) meter.add(luma, alpha, truth ? &*truth : nullptr);
//     std::printf("%.5f\n", *meter.flicker());
#pragma once

#include <optional>

#include "inference/core/image.h"

namespace matte {

class SequenceMeter {
public:
    /// The next frame: its luma [h, w, 1] of 0 to 255, its matte [h, w, 1] of 0 to 1 and the true one where it is
    /// known. A frame of another size begins a new sequence, whose pairs count with the others.
    void add(const Planes& luma, const Planes& alpha, const Planes* truth);

    /// Mean |change of alpha| from a frame to the next, over all pixels where nothing happens: those whose luma,
    /// blurred by a Gaussian of 2 pixels, changes by less than 1.5 of 255. Both on a grid of 320 pixels along the
    /// longest side. Null before two frames.
    [[nodiscard]] std::optional<double> flicker() const;
    /// Erofeev et al., "Perceptually Motivated Benchmark for Video Matting", BMVC 2015: the mean over pairs of frames
    /// of the root mean square of (change of alpha - change of the true alpha). Null before two frames with a truth.
    [[nodiscard]] std::optional<double> dtSsd() const;
    /// Mean |alpha - true alpha| where something moves: over the pixels whose true alpha changed by more than .1 since
    /// the frame before. A trail shows here. Null before there is such a pixel.
    [[nodiscard]] std::optional<double> movingError() const;
    /// Mean share of a frame that is somebody, alpha above 1/2, and not of the largest such region of neighbours along
    /// an axis: where one person is to be seen, what is taken for him. On the same grid. Null before the first frame.
    [[nodiscard]] std::optional<double> beside() const;
    [[nodiscard]] int frames() const { return frames_; }

private:
    Planes luma_, small_;  ///< of the frame before, on the grid
    Planes alpha_, truth_;
    int frames_ = 0, pairs_ = 0;
    double beside_ = 0, stillPixels_ = 0, change_ = 0, dtSsd_ = 0, movingPixels_ = 0, movingError_ = 0;
};

/// The luma of a frame in any format, [h, w, 1] of 0 to 255.
Planes lumaPlane(const ImageView& frame);

}  // namespace matte
