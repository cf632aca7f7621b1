// SPDX-License-Identifier: Apache-2.0
#include "inference/baselines/limits.h"

#include <algorithm>
#include <cstdio>

#include "inference/core/parallel.h"
#include "inference/cpu/processor_rates.h"

namespace matte::baselines {
namespace {

Limits measureCpu() {
    ProcessorRates rates;
    while (rates.measure()) {
    }
    Limits limits{rates.flopsPerSecond(), 0, rates.bytesPerSecond(), {}};
    char text[160];
    std::snprintf(text, sizeof text, "CPU limit, measured: %.0f GFLOP/s and %.1f GB/s on %d threads.",
                  limits.flops / 1e9, limits.bytes / 1e9, threads());
    limits.text = text;
    return limits;
}

}  // namespace

double Limits::seconds(double operations, double moved, bool tensorCores) const {
    return std::max(operations / (tensorCores && tensorFlops > 0 ? tensorFlops : flops), moved / bytes);
}

const Limits& limitsOf(Where where) {
    if (where == Where::cpu) {
        static const Limits cpu = measureCpu();
        return cpu;
    }
    static const Limits gpu = deviceLimits();
    return gpu;
}

}  // namespace matte::baselines
