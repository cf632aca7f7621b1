// SPDX-License-Identifier: Apache-2.0
// How long a network takes by itself, and each of its layers, beside what the machine reaches at best. Random input.
// One thread; blocks until it is done.
//
//     const NetworkBench bench = benchOnCpu(unet, {384, 224}, Precision::fast, 50, stop);
#pragma once

#include <stop_token>

#include "inference/engine/engine.h"

namespace matte {

struct NetworkBench {
    std::string runsOn;      ///< "NVIDIA H200, sm90"
    MachineRates rates;      ///< measured in the same run
    std::vector<double> ms;  ///< of each run of the whole network
    std::vector<LayerInfo> layers;
    std::vector<std::vector<double>> layerMs;  ///< of each layer, of each run; the layers don't overlap then
};

/// `runs` runs at inputs of `size` (sides multiples of 2^(levels-1)). Throws Error(engine), Cancelled.
NetworkBench benchOnCpu(const UNet& unet, Size size, Precision precision, int runs, const std::stop_token& stop);

/// As above on a GPU by the kernel named `kernel`: sm90, mma or fp32; empty: the engine's own choice. Of the options,
/// `device` and `tune` count. Throws Error(engine) also without a GPU, and Error(usage) for another name.
NetworkBench benchOnCuda(
    const UNet& unet, Size size, const std::string& kernel, const EngineOptions& options, int runs);

}  // namespace matte
