// SPDX-License-Identifier: Apache-2.0
// DevicePicture: a finished picture in device memory, for whoever shows it from there (interop). The owner of the
// Picture keeps it alive; its memory is not written again before the last copy that was announced here is done. A plain
// value; any thread.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "inference/core/image.h"

namespace matte {

struct DevicePicture {
    const std::byte* rgba = nullptr;  ///< [H, W, 4], packed rows
    Size size;
    int device = 0;               ///< CUDA's index
    cudaEvent_t ready = nullptr;  ///< recorded behind the last write: wait for it in the stream that reads
    cudaEvent_t read = nullptr;   ///< record it behind each copy from here, before the Picture is let go
    bool opaque = true;           ///< every alpha is 255
};

}  // namespace matte
