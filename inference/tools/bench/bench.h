// SPDX-License-Identifier: Apache-2.0
// What matte-cli bench measures and reports: the network by itself and each of its layers, beside what the machine
// reaches at best; whole frames; and what timing layers for the window's overlay costs. Random input. One thread;
// blocks until it is done.
//
//     const NetworkBench bench = benchOnCpu(unet, {384, 224}, Precision::fast, 50, stop);
#pragma once

#include <stop_token>
#include <string>
#include <utility>
#include <vector>

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

struct Spread {
    double p10 = 0, median = 0, p90 = 0;
};
/// Of at least one value; the ranks are rounded to the nearest value.
Spread spreadOf(std::vector<double> values);

struct BenchReport {
    std::string model;
    double modelFlops = 0;  ///< of one run at `input`
    Size input, frame;
    NetworkBench network;
    EngineInfo engine;                                                ///< that ran the whole frames
    std::vector<std::pair<std::string, std::vector<double>>> stages;  ///< in their order, of each frame
    std::vector<double> frameMs;                                      ///< from submit() to the finished picture
    double framesPerSecond = 0;                                       ///< with every slot busy
};

/// `layers`: with a line for each.
std::string asText(const BenchReport& report, bool layers);
std::string asJson(const BenchReport& report);

/// What timing layers for the window's overlay costs: milliseconds of a frame, from submit() to the finished picture,
/// the mean of each turn of frames.
struct OverlayCost {
    std::string engine{};
    Size frame{};
    int framesATurn = 16;             ///< the GPU's engine times one frame in eight
    std::vector<double> off{}, on{};  ///< as many of each: off[i] and on[i] are neighbours
};
std::string asText(const OverlayCost& cost);
std::string asJson(const OverlayCost& cost);

}  // namespace matte
