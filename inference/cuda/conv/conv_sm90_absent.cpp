// SPDX-License-Identifier: Apache-2.0
// Takes conv_sm90.cu's place in programs that were not built for that architecture.
#include "inference/cuda/conv/conv.h"

namespace matte {

std::unique_ptr<ConvLaunch::Prepared> prepareSm90(const ConvShape&,
                                                  const ConvConfig&,
                                                  const ConvBuffers&,
                                                  const DeviceFacts&) {
    throw Error(
        ErrorCategory::engine,
        "This program was built without the kernels for GPUs of compute capability 9.0: choose the kernel mma.");
}

}  // namespace matte
