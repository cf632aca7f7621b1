// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/device/cuda.h"

namespace matte {
namespace {

__global__ void probe() {}

}  // namespace

cudaError_t probeKernels() {
    cudaFuncAttributes attributes{};
    const cudaError_t result = cudaFuncGetAttributes(&attributes, probe);
    cudaGetLastError();
    return result;
}

}  // namespace matte
