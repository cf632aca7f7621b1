// SPDX-License-Identifier: Apache-2.0
// Whether this program's kernels were compiled for the current device. Any thread.
#pragma once

#include <cuda_runtime_api.h>

namespace matte {

/// cudaSuccess; cudaErrorNoKernelImageForDevice when they were compiled for other devices; else why the device can't be
/// used.
cudaError_t probeKernels();

}  // namespace matte
