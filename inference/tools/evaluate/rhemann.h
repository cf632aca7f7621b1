// SPDX-License-Identifier: Apache-2.0
// The gradient and connectivity errors of Rhemann et al., "A Perceptually Motivated Online Benchmark for Image
// Matting", CVPR 2009, one value a pixel; both mattes are [h, w, 1] of 0 to 1, of the same size. Any thread.
#pragma once

#include <vector>

#include "inference/core/image.h"
#include "inference/tools/evaluate/filters.h"

namespace matte {

/// Squared differences of the lengths of both mattes' gradients, by derivatives of a Gaussian of 1.4 pixels.
std::vector<double> gradientErrors(const Planes& found, const Planes& truth);
/// Absolute differences of the degrees of connectedness to the largest region that both mattes share: levels are .1
/// apart, and differences below .15 break nothing.
std::vector<double> connectivityErrors(const Planes& found, const Planes& truth);

/// Their sum, divided by 1000.
double inThousands(const std::vector<double>& errors);
/// That over the pixels of a mask.
double inThousands(const std::vector<double>& errors, const Mask& within);

}  // namespace matte
