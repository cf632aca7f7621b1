// SPDX-License-Identifier: Apache-2.0
// Premultiplied alpha for textures with linear filtering. Enqueues on a stream and returns; a failed launch throws
// CudaError. Any thread.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "inference/core/image.h"

namespace matte::device {

/// rgba8 with packed rows, in device memory: each colour becomes (color * alpha + 127) / 255.
void premultiply(const std::byte* rgba, Size size, std::byte* premultiplied, cudaStream_t stream);

}  // namespace matte::device
