// SPDX-License-Identifier: Apache-2.0
// Scores of a matte against the true one, by the measures of the field. Any thread. inference/training/train/metrics.py
// has the same definitions.
//     const MatteScores scores = scoreMatte(found, truth);
//     std::printf("%.4f\n", meanScores(all).meanIou);
#pragma once

#include <optional>
#include <vector>

#include "inference/core/image.h"

namespace matte {

/// Errors in the unknown band (unknown_band.h) of one picture, or the means of several, after Rhemann et al., "A
/// Perceptually Motivated Online Benchmark for Image Matting", CVPR 2009. Sums over the band, in thousands of pixels,
/// but for `mse`: they grow with the picture.
struct BandScores {
    double sad = 0;  ///< sum of absolute differences
    double mse = 0;  ///< mean squared difference
    double gradient = 0, connectivity = 0;
    double hairGradient = 0;  ///< the gradient error of hairPart() of the band
};

/// Of one picture, or the means of several. A pixel is of the person when its alpha is above 0.5.
struct MatteScores {
    double meanIou = 0;    ///< mean of the intersection over union of the person and of the background
    double personIou = 0;  ///< 1 when there is nobody in either matte
    double mad = 0;        ///< mean absolute difference
    double mse = 0;        ///< mean squared difference
    /// Of Rhemann et al. too, over the whole picture, in thousands of pixels.
    double gradient = 0, connectivity = 0;
    double boundary = 0;       ///< F-score of the person's outline, 2 pixels off allowed along either axis
    double uncertain = 0;      ///< share of pixels with an alpha between .05 and .95
    double uncertainAway = 0;  ///< the same, those left out that are near the true outline or near true softness
    /// Null where no true alpha is known; the means are those of the pictures that have one.
    std::optional<BandScores> band;
};

/// Whose unknown band is scored: of true mattes that isSoft() finds to be alphas, or of all that have a soft pixel.
enum class BandOf { softMattes, everyMatte };

/// Both mattes are [h, w, 1] of 0 to 1, of the same size.
MatteScores scoreMatte(const Planes& found, const Planes& truth, BandOf bandOf = BandOf::softMattes);

/// Share of pixels with an alpha between .05 and .95.
double uncertainShare(const Planes& matte);

/// Means of every measure; zeros for no pictures.
MatteScores meanScores(const std::vector<MatteScores>& all);
/// Mean meanIou of the worst tenth of the pictures, of at least one.
double worstTenth(const std::vector<MatteScores>& all);

}  // namespace matte
