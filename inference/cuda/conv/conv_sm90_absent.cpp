// SPDX-License-Identifier: Apache-2.0
// Stands in for what is compiled for sm_90a alone, in programs that were not built for that architecture.
#include "inference/cuda/device/device_rates.h"

namespace matte {

ConvLaunch::Call prepareSm90(const ConvShape&, const ConvConfig&, const ConvBuffers&, const DeviceFacts&) {
    throw Error(
        ErrorCategory::engine,
        "This program was built without the kernels for GPUs of compute capability 9.0: choose the kernel mma.");
}

double launchWgmmaLoop(int, float*, cudaStream_t) {
    return 0;
}

}  // namespace matte
