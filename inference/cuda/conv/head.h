// SPDX-License-Identifier: Apache-2.0
// The network's head on the GPU, if it is not fused into the previous layer: a 1x1 convolution to one channel and the
// sigmoid. Any thread, one at a time per stream.
#pragma once

#include "inference/cuda/conv/conv.h"

namespace matte {

/// `in`: [pixels, channels] halves, or floats if `inFloats`; channels are a multiple of 8, with as many weights. Throws
/// Error(engine).
void launchHead(
    const void* in, bool inFloats, const Head& head, int pixels, int channels, cudaStream_t stream, bool overlap);

}  // namespace matte
