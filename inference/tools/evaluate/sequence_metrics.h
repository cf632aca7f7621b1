// SPDX-License-Identifier: Apache-2.0
// Scores of the mattes of a sequence, above all how steady they are. One thread at a time.
//     SequenceMeter meter;
//     while (...) meter.add(luma, alpha, truth ? &*truth : nullptr);
//     std::printf("%.5f\n", *meter.scores().flicker);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inference/core/image.h"
#include "inference/tools/evaluate/matte_metrics.h"

namespace matte {

/// What was measured of one sequence. Some measures are made on a grid of 320 pixels along the longest side.
struct SequenceScores {
    std::string name;
    int frames = 0;
    /// Mean |change of alpha| from a frame to the next, over the pixels where nothing happens: those whose luma,
    /// blurred by a Gaussian of 2 pixels, changes by less than 1.5 of 255. On the grid. Null before two frames.
    std::optional<double> flicker;
    /// Erofeev et al., "Perceptually Motivated Benchmark for Video Matting", BMVC 2015: the mean over pairs of frames
    /// of the root mean square of (change of alpha - change of the true alpha). Null before two frames with a truth.
    std::optional<double> dtSsd;
    /// Mean |alpha - true alpha| where something moves: over the pixels whose true alpha changed by more than .1 since
    /// the frame before. A trail shows here. Null before there is such a pixel.
    std::optional<double> movingError;
    /// Mean share of a frame with an alpha above 1/2 outside the largest such region: what is taken for the person
    /// where one person is to be seen. On the grid. Null before the first frame.
    std::optional<double> beside;
    double uncertain = 0;               ///< mean of uncertainShare() over the frames
    std::optional<MatteScores> mattes;  ///< means over the frames that have a true matte
};

class SequenceMeter {
public:
    /// The next frame: its luma [h, w, 1] of 0 to 255, its matte [h, w, 1] of 0 to 1, and the true matte where it is
    /// known. A frame of another size begins a new sequence, whose pairs count with the others.
    void add(const Planes& luma, const Planes& alpha, const Planes* truth);
    /// Of the frames so far; without a name.
    [[nodiscard]] SequenceScores scores() const;

private:
    Planes luma_, small_;  ///< of the frame before, on the grid
    Planes alpha_, truth_;
    int frames_ = 0, pairs_ = 0;
    std::vector<MatteScores> mattes_;
    double beside_ = 0, uncertain_ = 0, stillPixels_ = 0, change_ = 0, dtSsd_ = 0, movingPixels_ = 0, movingError_ = 0;
};

/// The luma of a frame in any format, [h, w, 1] of 0 to 255.
Planes lumaPlane(const ImageView& frame);

}  // namespace matte
