// SPDX-License-Identifier: Apache-2.0
// The network's last layer on the GPU where the one before it does not compute it too: a 1x1 convolution to one
// channel, and the sigmoid. Any thread, one at a time for each stream.
#pragma once

#include "inference/cuda/conv/conv.h"

namespace matte {

/// `in` [pixels, channels] halves, or floats where `inFloats`, channels a multiple of 8 and as many weights. Throws
/// Error(engine).
void launchHead(
    const void* in, bool inFloats, const Head& head, int pixels, int channels, cudaStream_t stream, bool overlap);

}  // namespace matte
