// SPDX-License-Identifier: Apache-2.0
// How long a network takes by itself, and each of its layers, beside what the machine reaches at best. Random input.
// One thread; blocks until it is done.
//
//     const NetworkBench bench = benchOnCpu(unet, {384, 224}, Precision::fast, 50, stop);
#pragma once

#include <stop_token>

#include "inference/engine.h"

namespace matte {

/// What a machine reaches, measured in the same run. Zeros where it is not known.
struct MachineRates {
    double flopsPerSecond = 0, bytesPerSecond = 0;
    std::string text;  ///< by what: "wgmma on random halves, a copy within the device's memory"
};

struct NetworkBench {
    std::string runsOn;  ///< "NVIDIA H200, sm90"
    MachineRates rates;
    std::vector<double> ms;  ///< of each run of the whole network
    std::vector<LayerInfo> layers;
    std::vector<std::vector<double>> layerMs;  ///< of each layer, of each run; the layers don't overlap then
};

/// The time that the machine needs at least: the longer of calculating and moving data. 0 without rates.
double leastMs(const LayerInfo& layer, const MachineRates& rates);

/// `runs` runs at inputs of `size` (sides multiples of 2^(levels-1)). Throws Error(engine), Cancelled.
NetworkBench benchOnCpu(const UNet& unet, Size size, Precision precision, int runs, const std::stop_token& stop);

/// As above on the fastest GPU by the kernel named `kernel`: sm90, mma or fp32; empty: the engine's own choice. `tune`:
/// each layer by the configuration that was measured to be the fastest. Throws Error(engine) also without a GPU, and
/// Error(usage) for another name.
NetworkBench benchOnCuda(const UNet& unet, Size size, const std::string& kernel, bool tune, int runs);

}  // namespace matte
