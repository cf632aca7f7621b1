// SPDX-License-Identifier: Apache-2.0
// Peak rates of the current device, measured by short loops of our own: the limits that layer times are compared with.
// Takes a few milliseconds.
//
//     const MachineRates rates = measureRates(ConvKernel::sm90);
#pragma once

#include "inference/core/machine_rates.h"
#include "inference/cuda/conv/conv.h"

namespace matte {

/// Arithmetic with the instructions of `kernel` (wgmma, mma.sync or fp32 multiply-adds) on random numbers; memory
/// traffic, reads plus writes, with a copy within device memory. Throws CudaError.
MachineRates measureRates(ConvKernel kernel);

/// Launches the wgmma loop once on `blocks` multiprocessors. Returns its flops; 0 in a build without sm_90a.
double launchWgmmaLoop(int blocks, float* out, cudaStream_t stream);

}  // namespace matte
