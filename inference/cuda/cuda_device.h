// SPDX-License-Identifier: Apache-2.0
// The boundary between CUDA and the rest of the program: selects the device and translates its errors. Any thread.
#pragma once

#include <functional>
#include <string>

#include "inference/cuda/conv/conv.h"
#include "inference/engine/engine.h"

namespace matte {

/// Fault injection for tests. Called before each step ("start", "prepare", "upload", "network", "second pass",
/// "composite", "wait", "download"); its return value replaces the step's result. "download" is called on any thread.
using CudaFault = std::function<cudaError_t(const std::string& step)>;

inline void passStep(const CudaFault& fault, const char* name) {
    if (fault) CUDA_CHECK(fault(name));
}

/// Makes the device from chooseDevice() current and checks that the program's kernels run on it; returns its index.
/// Throws DeviceFailure, and Error(usage) as chooseDevice().
int openDevice(const EngineOptions& options = {});

/// The convolution kernel to use on the current device.
ConvKernel builtKernel();

EngineInfo describeDevice(int index, ConvKernel kernel);

DeviceFailure toDeviceFailure(const CudaError& error);

/// Runs `work` with `device` current and turns every device error into DeviceFailure.
template <typename Work>
auto onDevice(int device, const Work& work) {
    try {
        CUDA_CHECK(cudaSetDevice(device));
        return work();
    } catch (const DeviceFailure&) {
        throw;
    } catch (const CudaError& error) {
        throw toDeviceFailure(error);
    } catch (const Error& error) {
        if (error.category != ErrorCategory::engine) throw;
        throw DeviceFailure(error.what(), true);
    }
}

}  // namespace matte
