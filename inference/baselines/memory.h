// SPDX-License-Identifier: Apache-2.0
// What the baselines know of a machine: the memory in which an implementation's tensors lie, on the host or on the
// device, and the limits that the lab holds an implementation against. One thread at a time for each object.
#pragma once

#include <functional>

#include "inference/baselines/implementation.h"
#include "inference/core/machine_rates.h"

namespace matte::baselines {

/// Memory of one device. For the host, upload() and download() are plain copies.
class Memory {
public:
    virtual ~Memory() = default;
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    /// Not initialised; freed with this object.
    virtual float* allocate(std::size_t floats) = 0;
    virtual void upload(float* to, const float* from, std::size_t floats) = 0;
    virtual void download(float* to, const float* from, std::size_t floats) = 0;
    /// Milliseconds of `work`; the device is idle before and after.
    virtual double time(const std::function<void()>& work) = 0;
    [[nodiscard]] virtual StreamHandle stream() const { return nullptr; }

protected:
    Memory() = default;
};

std::unique_ptr<Memory> makeHostMemory();
std::unique_ptr<Memory> makeDeviceMemory();  ///< throws Error(engine)
std::unique_ptr<Memory> makeMemory(Where where);

/// What the device reaches at best in single precision, or with `tensorCores` in halves with sums in single precision.
/// The CPU's is measured once, in a few tenths of a second; the GPU's follows from its clocks and widths. Any thread.
/// Throws Error(engine).
const MachineRates& limitsOf(Where where, bool tensorCores = false);
MachineRates deviceLimits(bool tensorCores);

/// Brings `input` into the layer's memory, runs all its steps and brings back `outFloats` values.
std::vector<float> runLayer(Layer& layer, Where where, std::span<const float> input, std::size_t outFloats);

}  // namespace matte::baselines
