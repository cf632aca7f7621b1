// SPDX-License-Identifier: Apache-2.0
// Colours times their alpha, for graphics that filter between pixels. Enqueues on a stream and returns; a bad launch
// throws CudaError. Any thread.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "inference/core/image.h"

namespace matte::device {

/// rgba8 with packed rows -> the same with each colour as (color * alpha + 127) / 255.
void premultiply(const std::byte* rgba, Size size, std::byte* premultiplied, cudaStream_t stream);

}  // namespace matte::device
