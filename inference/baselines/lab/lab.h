// SPDX-License-Identifier: Apache-2.0
// The lab: the tables of the course that Matte grew from, measured anew on this machine, with the course's own figures
// beside them. One thread; the implementations use what threads and devices they use.
//
//     LabOptions options;
//     options.progress = [](const std::string& what) { std::fprintf(stderr, "%s\n", what.c_str()); };
//     std::puts(asText(labConv(options)).c_str());
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>

#include "inference/baselines/implementation.h"
#include "inference/baselines/lab/lab_table.h"

namespace matte::baselines {

struct LabOptions {
    std::vector<const Implementation*> implementations;  ///< empty: all
    std::optional<Where> where;                          ///< empty: both
    std::string only;             ///< conv, layers: the layers whose name holds this, such as "64x128"
    std::filesystem::path model;  ///< network; empty: the course's U-Net of 64 to 1024 channels, random weights
    std::filesystem::path dump;   ///< network: a folder that tests/reference/dump_network.py has filled
    Size size{512, 512};          ///< network
    double secondsPerRow = 0.3;   ///< repeats a measurement for so long, at least once and at most 50 times
    std::function<void(const std::string&)> progress = [](const std::string&) {};
    std::stop_token stop;  ///< between two rows; throws Cancelled
};

/// Convolutions at batch 4: the five and the ten layers, direct against tiled, separate against fused.
std::vector<Table> labConv(const LabOptions& options);
/// Batch norm, ReLU and max-pooling at the four sizes; the transposed convolution, which the course left open.
std::vector<Table> labLayers(const LabOptions& options);
/// The whole network: time, copies, and each block's difference.
std::vector<Table> labNetwork(const LabOptions& options);
/// One channel of 1024x1024, one 3x3 filter.
std::vector<Table> labXnor(const LabOptions& options);
std::vector<Table> labStencil(const LabOptions& options);

}  // namespace matte::baselines
