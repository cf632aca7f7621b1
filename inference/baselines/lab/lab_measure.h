// SPDX-License-Identifier: Apache-2.0
// How the lab measures one row: the layer's time with and without copying, on an input of chance.
#pragma once

#include "inference/baselines/difference.h"
#include "inference/baselines/lab/lab.h"
#include "inference/baselines/memory.h"

namespace matte::baselines {

/// Uniform from 0 to 1, as torch.rand() in the course; the same for a seed on every machine and any number of threads.
std::vector<float> uniform(std::size_t count, unsigned seed);

struct Measured {
    double ms = 0;            ///< of the layer alone, the median
    double withCopiesMs = 0;  ///< from the input on the host to the output on the host, first run after one to warm up
    std::vector<double> stepMs;
    std::vector<float> output;
};
Measured measure(
    Layer& layer, Where where, std::span<const float> input, std::size_t outFloats, const LabOptions& options);

/// The implementations that the options ask for, in the table's order.
std::vector<const Implementation*> chosenImplementations(const LabOptions& options);
bool chosen(const LabOptions& options, Where where);
/// Tells what comes next; throws Cancelled when asked to stop.
void announce(const LabOptions& options, const std::string& what);
/// "see below" for the cell, and below, in the table's notes, the whole sentence once.
Cell unavailableCell(Table& table, const std::string& why);
/// The limits of both devices that the options ask for and the machine has, as notes.
void addLimits(Table& table, const LabOptions& options);

}  // namespace matte::baselines
