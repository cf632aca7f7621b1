// SPDX-License-Identifier: Apache-2.0
// Checks whether the program's kernels run on the current device. Any thread.
#pragma once

#include <cuda_runtime_api.h>

namespace matte {

/// cudaSuccess, cudaErrorNoKernelImageForDevice when they were compiled for other architectures, or the device's error.
cudaError_t probeKernels();

}  // namespace matte
