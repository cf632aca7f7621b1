// SPDX-License-Identifier: Apache-2.0
// Scores of a matte against the true one, by the measures of the field. Any thread. inference/training/train/metrics.py
// has the same definitions.
//     const MatteScores scores = scoreMatte(found, truth);
//     std::printf("%.4f\n", meanScores(all).meanIou);
#pragma once

#include <vector>

#include "inference/core/image.h"

namespace matte {

/// Of one picture, or the means of several. A pixel is of the person when its alpha is above 0.5.
struct MatteScores {
    double meanIou = 0;    ///< mean of the intersection over union of the person and of the background
    double personIou = 0;  ///< 1 when there is nobody in either matte
    double mad = 0;        ///< mean absolute difference
    double mse = 0;        ///< mean squared difference
    /// Rhemann et al., "A Perceptually Motivated Online Benchmark for Image Matting", CVPR 2009, over the whole
    /// picture, in thousands of pixels: they grow with the picture.
    double gradient = 0, connectivity = 0;
    double boundary = 0;       ///< F-score of the person's outline, 2 pixels off allowed along either axis
    double uncertain = 0;      ///< share of pixels with an alpha between .05 and .95
    double uncertainAway = 0;  ///< the same, those left out that are near the true outline or near true softness
};

/// Both mattes are [h, w, 1] of 0 to 1, of the same size.
MatteScores scoreMatte(const Planes& found, const Planes& truth);

/// Share of pixels with an alpha between .05 and .95.
double uncertainShare(const Planes& matte);

/// Means of every measure; zeros for no pictures.
MatteScores meanScores(const std::vector<MatteScores>& all);
/// Mean meanIou of the worst tenth of the pictures, of at least one.
double worstTenth(const std::vector<MatteScores>& all);

/// Sum of squared differences of the lengths of both mattes' gradients (derivatives of a Gaussian of 1.4 pixels),
/// divided by 1000.
double gradientError(const Planes& found, const Planes& truth);
/// Sum of differences of connectedness to the largest region that both mattes share, divided by 1000.
double connectivityError(const Planes& found, const Planes& truth);

}  // namespace matte
