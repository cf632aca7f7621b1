// SPDX-License-Identifier: Apache-2.0
// What a device reaches at best, measured by short loops of our own: the limit that a layer's time is held against. The
// thread's current device; takes a few milliseconds.
//
//     const MachineRates rates = measureRates(ConvKernel::sm90);
#pragma once

#include "inference/core/machine_rates.h"
#include "inference/cuda/conv/conv.h"

namespace matte {

/// With the instructions that `kernel` multiplies by: wgmma, mma.sync, or fp32 multiply-adds, on random numbers; bytes
/// are read and written by a copy within the device's memory. Throws CudaError.
MachineRates measureRates(ConvKernel kernel);

/// wgmma's loop on `blocks` multiprocessors, once. Its work in flops; 0 in a build without sm_90a.
double launchWgmmaLoop(int blocks, float* out, cudaStream_t stream);

}  // namespace matte
