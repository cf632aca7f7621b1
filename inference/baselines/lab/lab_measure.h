// SPDX-License-Identifier: Apache-2.0
// How the lab measures one row: the layer's time with and without copying, on random input. One thread.
#pragma once

#include <cmath>

#include "inference/baselines/lab/lab.h"
#include "inference/baselines/memory.h"

namespace matte::baselines {

/// Uniform in [0, 1), as torch.rand() in the course; for a seed the same on every machine and any number of threads.
std::vector<float> uniform(std::size_t count, unsigned seed);

struct Measured {
    double ms = NAN;            ///< of the layer alone, the median
    double withCopiesMs = NAN;  ///< from the input on the host to the output on the host; the first run after a warm-up
    std::vector<double> stepMs;
    std::vector<float> output;
};
Measured measure(
    Layer& layer, Where where, std::span<const float> input, std::size_t outFloats, const LabOptions& options);

/// The implementations that the options ask for, in the order of implementations().
std::vector<const Implementation*> chosenImplementations(const LabOptions& options);
bool chosen(const LabOptions& options, Where where);
bool chosen(const LabOptions& options, const Implementation& implementation);
/// Reports what is measured next. Throws Cancelled when asked to stop.
void announce(const LabOptions& options, const std::string& what);
/// `cell`; when there is a reason `why` it can't be had, "see below", and the reason once in the table's notes.
Cell cellUnless(const std::string& why, Table& table, Cell cell);
/// The share of the roofline that `flops` and `bytes` in `ms` reach; a dash when `ms` is not finite.
Cell shareOfLimit(Where where, double flops, double bytes, double ms, bool tensorCores = false);
/// Of at least one value; the upper one of two in the middle.
double median(std::vector<double> values);
/// Whether LabOptions::secondsPerRow leaves time for another run after those that took `ms`.
bool hasTimeAfter(const std::vector<double>& ms, const LabOptions& options);
/// Notes with the limits of the devices that the options ask for and the machine has.
void addLimits(Table& table, const LabOptions& options);

}  // namespace matte::baselines
