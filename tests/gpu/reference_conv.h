// SPDX-License-Identifier: Apache-2.0
// The definition of each layer, one thread for each output value and sums in double precision, on the GPU because the
// tests' problems are too large for a CPU loop. Activations [N, H, W, channels], dense floats.
#pragma once

#include "inference/cuda/conv/conv.h"

namespace matte::test {

/// Of the layer's filter.
int filterSide(const ConvShape& shape);
/// `weights` [out, in, k, k] ([out, 1, k, k] of a depthwise layer), `bias` and `added` on the device; `out` and `added`
/// [N, outHeight, outWidth, out].
void referenceConv(const ConvShape& shape,
                   const float* in0,
                   const float* in1,
                   const float* weights,
                   const float* bias,
                   const float* added,
                   float* out);

}  // namespace matte::test
