// SPDX-License-Identifier: Apache-2.0
// DevicePicture: a finished picture in device memory, for graphics interop. The Picture owns the memory, which is not
// overwritten until the copies recorded in `read` are done. A plain value; any thread.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "inference/core/image.h"

namespace matte {

struct DevicePicture {
    const std::byte* rgba = nullptr;  ///< [H, W, 4], packed rows
    Size size;
    int device = 0;               ///< CUDA device index
    cudaEvent_t ready = nullptr;  ///< recorded after the last write: make the reading stream wait for it
    cudaEvent_t read = nullptr;   ///< to be recorded after each copy, before the Picture is released
    bool opaque = true;           ///< every alpha is 255
};

}  // namespace matte
