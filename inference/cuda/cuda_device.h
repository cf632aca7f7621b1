// SPDX-License-Identifier: Apache-2.0
// The border between CUDA and the rest of the program: which device, why not, and what its failures are called. Any
// thread.
#pragma once

#include <functional>
#include <string>

#include "inference/cuda/conv/conv.h"
#include "inference/engine/engine.h"

namespace matte {

/// Called before each step ("start", "prepare", "upload", "network", "second pass", "composite", "wait", "download");
/// what it returns is taken for that step's result. For tests; "download" is called on any thread.
using CudaFault = std::function<cudaError_t(const std::string& step)>;

inline void passStep(const CudaFault& fault, const char* name) {
    if (fault) CUDA_CHECK(fault(name));
}

/// Makes the device that chooseDevice() chooses the thread's own, if the program's kernels run on it. Throws
/// DeviceFailure, and Error(usage) as chooseDevice() does.
int openDevice(const EngineOptions& options = {});

/// The kernel that the engine computes with on the current device.
ConvKernel builtKernel();

EngineInfo describeDevice(int index, ConvKernel kernel);

DeviceFailure toDeviceFailure(const CudaError& error);

/// Runs `work` with `device` current. Every failure of the device leaves as DeviceFailure.
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
