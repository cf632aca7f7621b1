// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/cuda_device.h"

#include <algorithm>

#include "inference/cuda/cuda_network.h"
#include "inference/cuda/devices.h"
#include "inference/cuda/probe.h"

namespace matte {
namespace {

constexpr int kLeastMajor = 8;  // tensor cores with asynchronous copies

std::string capability(const CudaDevice& device) {
    return device.name + " (compute capability " + std::to_string(device.computeMajor) + "." +
           std::to_string(device.computeMinor) + ")";
}

/// Index of the device with the most multiprocessors among those that are new enough.
int chooseDevice(const CudaStatus& status) {
    if (!status.unavailable.empty()) throw DeviceFailure(status.unavailable, true);
    const auto usable = [](const CudaDevice& device) { return device.computeMajor >= kLeastMajor; };
    const auto rank = [&](const CudaDevice& device) { return usable(device) ? device.multiprocessors : -1; };
    const auto best = std::ranges::max_element(status.devices, {}, rank);
    if (!usable(*best)) {
        throw DeviceFailure("The " + capability(*best) + " is too old: a GPU of compute capability " +
                                std::to_string(kLeastMajor) + ".0 or newer is needed.",
                            true);
    }
    return int(best - status.devices.begin());
}

}  // namespace

int openDevice() {
    const CudaStatus status = queryCuda();
    const int index = chooseDevice(status);
    cudaError_t error = cudaSetDevice(index);
    if (error == cudaSuccess) error = probeKernels();
    if (error == cudaSuccess) return index;
    cudaGetLastError();
    if (error == cudaErrorNoKernelImageForDevice) {
        throw DeviceFailure("This program was built for other GPUs (" MATTE_CUDA_ARCHITECTURES ") than the " +
                                capability(status.devices[std::size_t(index)]) +
                                ": build it with that one in CMAKE_CUDA_ARCHITECTURES.",
                            true);
    }
    throw DeviceFailure(cudaUnavailable(error, cudaGetErrorString(error), status.runtimeVersion, status.driverVersion),
                        true);
}

ConvKernel builtKernel() {
#ifdef MATTE_HAVE_SM90
    return CudaNetwork::bestKernel();
#else
    return ConvKernel::mma;
#endif
}

EngineInfo describeDevice(int index, ConvKernel kernel) {
    const CudaStatus status = queryCuda();
    const char* arithmetic = kernel == ConvKernel::sm90   ? ", wgmma, f16)"
                             : kernel == ConvKernel::fp32 ? ", f32)"
                                                          : ", mma, f16)";
    EngineInfo info;
    info.kind = EngineKind::cuda;
    info.name = status.devices[std::size_t(index)].name + " (CUDA " + status.runtimeVersion + arithmetic;
    return info;
}

DeviceFailure toDeviceFailure(const CudaError& error) {
    if (error.code == cudaErrorMemoryAllocation) {
        return {"The GPU's memory is full: close other programs that use it.", false};
    }
    return {std::string("The GPU failed (") + cudaGetErrorString(error.code) + "): start the program again to use it.",
            true};
}

}  // namespace matte
