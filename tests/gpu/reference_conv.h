// SPDX-License-Identifier: Apache-2.0
// The definition of each layer, one thread for each output value and sums in double precision, on the GPU because the
// tests' problems are too large for a CPU loop. Activations [N, H, W, channels], dense floats.
#pragma once

#include "inference/cuda/conv.h"

namespace matte::test {

/// `weights` [out, in, k, k] and `bias` on the device; `out` [N, H, W, out] or, for up2x2, [N, 2 H, 2 W, out].
void referenceConv(
    const ConvShape& shape, const float* in0, const float* in1, const float* weights, const float* bias, float* out);

}  // namespace matte::test
