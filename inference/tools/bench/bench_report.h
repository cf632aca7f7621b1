// SPDX-License-Identifier: Apache-2.0
// What matte-cli bench found, as text for people and as JSON. Any thread.
#pragma once

#include <map>

#include "inference/tools/bench/network_bench.h"

namespace matte {

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

}  // namespace matte
