// SPDX-License-Identifier: Apache-2.0
// What a device reaches at best, measured by short loops of our own: the limit that a layer's time is held against. The
// thread's current device; takes a few milliseconds.
//
//     const DeviceRates rates = measureRates(ConvKernel::sm90);
//     double leastSeconds = std::max(flops / rates.flopsPerSecond, bytes / rates.bytesPerSecond);
#pragma once

#include "inference/cuda/conv.h"

namespace matte {

struct DeviceRates {
    double flopsPerSecond = 0;  ///< products of random numbers, a multiply-add counted as two
    double bytesPerSecond = 0;  ///< read and written by a copy within the device's memory
};

/// With the instructions that `kernel` multiplies by: wgmma, mma.sync, or fp32 multiply-adds. Throws CudaError.
DeviceRates measureRates(ConvKernel kernel);

/// wgmma's loop on `blocks` multiprocessors, once. Its work in flops; 0 in a build without sm_90a.
double launchWgmmaLoop(int blocks, float* out, cudaStream_t stream);

}  // namespace matte
