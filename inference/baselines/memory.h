// SPDX-License-Identifier: Apache-2.0
// Where an implementation's tensors lie: on the host or on the device. One thread at a time for each object.
#pragma once

#include <functional>

#include "inference/baselines/implementation.h"

namespace matte::baselines {

/// The host's own is as good as a device's: its copies are plain copies.
class Memory {
public:
    virtual ~Memory() = default;
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    /// Lives as long as this object, not initialised.
    virtual float* allocate(std::size_t floats) = 0;
    virtual void upload(float* to, const float* from, std::size_t floats) = 0;
    virtual void download(float* to, const float* from, std::size_t floats) = 0;
    /// Milliseconds of `work`, begun and ended with the device idle.
    virtual double time(const std::function<void()>& work) = 0;
    [[nodiscard]] virtual StreamHandle stream() const { return nullptr; }

protected:
    Memory() = default;
};

std::unique_ptr<Memory> makeHostMemory();
std::unique_ptr<Memory> makeDeviceMemory();  ///< throws Error(engine)
std::unique_ptr<Memory> makeMemory(Where where);

/// Brings `input` into the layer's memory, runs all its steps and brings back `outFloats` values.
std::vector<float> runLayer(Layer& layer, Where where, std::span<const float> input, std::size_t outFloats);

}  // namespace matte::baselines
