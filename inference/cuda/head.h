// SPDX-License-Identifier: Apache-2.0
// The network's last layer on the GPU: a 1x1 convolution to one channel, and the sigmoid. Any thread, one at a time for
// each stream.
#pragma once

#include <cuda_runtime_api.h>

namespace matte {

/// `in` [pixels, channels] halves, or floats where `inFloats`, channels a multiple of 8; `weights` [channels] and
/// `bias` [1] on the device; `alpha` [pixels] floats. Throws Error(engine).
void launchHead(const void* in,
                bool inFloats,
                const float* weights,
                const float* bias,
                float* alpha,
                int pixels,
                int channels,
                cudaStream_t stream,
                bool overlap);

}  // namespace matte
