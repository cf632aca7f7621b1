// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "inference/baselines/limits.h"
#include "inference/cuda/device/cuda.h"

namespace matte::baselines {
namespace {

int attribute(cudaDeviceAttr which) {
    int device = 0, value = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
    return value;
}

/// Multiply-adds of halves with sums in single precision that a multiprocessor's tensor cores do in a clock, from
/// NVIDIA's architecture papers; the smaller figure where products of one architecture differ.
int tensorPerClock(int major, int minor) {
    if (major == 8) return minor == 0 ? 1024 : 256;
    if (major == 9) return 2048;
    if (major == 10) return 4096;
    return major >= 12 ? 256 : 0;
}

}  // namespace

Limits deviceLimits() {
    const int major = attribute(cudaDevAttrComputeCapabilityMajor),
              minor = attribute(cudaDevAttrComputeCapabilityMinor);
    const int cores = major == 8 && minor == 0 ? 64 : 128;  // of a multiprocessor
    const double clocks = 1e3 * attribute(cudaDevAttrClockRate) * attribute(cudaDevAttrMultiProcessorCount);
    // Data moves on both edges of the memory's clock.
    const double bytes = 2e3 * attribute(cudaDevAttrMemoryClockRate) * attribute(cudaDevAttrGlobalMemoryBusWidth) / 8.0;
    Limits limits{2 * clocks * cores, 2 * clocks * tensorPerClock(major, minor), bytes, {}};
    char text[200];
    std::snprintf(text, sizeof text,
                  "GPU limit, from its clocks and widths: %.1f TFLOP/s, %.0f TFLOP/s on tensor cores, %.2f TB/s.",
                  limits.flops / 1e12, limits.tensorFlops / 1e12, limits.bytes / 1e12);
    limits.text = text;
    return limits;
}

}  // namespace matte::baselines
