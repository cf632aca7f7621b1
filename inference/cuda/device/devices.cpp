// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/device/devices.h"

#include <algorithm>
#include <limits>

#include "inference/engine/engine.h"

#ifdef MATTE_HAVE_CUDA
#include <cuda_runtime_api.h>
#endif

namespace matte {

std::string cudaUnavailable(int error,
                            const std::string& what,
                            const std::string& runtimeVersion,
                            const std::string& driverVersion) {
    switch (error) {
        case 35:  // cudaErrorInsufficientDriver: also when there is none at all
            if (driverVersion.empty()) {
                return "There is no NVIDIA driver: install one for CUDA " + runtimeVersion + " or newer to use a GPU.";
            }
            return "The NVIDIA driver is for CUDA " + driverVersion + " and the program needs " + runtimeVersion +
                   ": update the driver.";
        case 46:  // cudaErrorDevicesUnavailable
            return "Every NVIDIA GPU is busy or reserved: close the program that uses it.";
        case 100:  // cudaErrorNoDevice
            return "There is no NVIDIA GPU, or CUDA_VISIBLE_DEVICES hides it: unset that variable if it does.";
        default:
            return "CUDA can't be used (error " + std::to_string(error) + ", " + what +
                   "): restart the machine or reinstall the NVIDIA driver.";
    }
}

namespace {

constexpr int kLeastMajor = 8;  // tensor cores with asynchronous copies

bool isUsable(const CudaDevice& device) {
    return device.computeMajor >= kLeastMajor;
}

}  // namespace

std::string CudaDevice::text() const {
    return name + " (compute capability " + std::to_string(computeMajor) + "." + std::to_string(computeMinor) + ")";
}

int chooseDevice(const CudaStatus& status, int wanted, const std::string& windowsDevice) {
    if (!status.unavailable.empty()) throw DeviceFailure(status.unavailable, true);
    const int count = int(status.devices.size());
    if (wanted != kAnyDevice && (wanted < 0 || wanted >= count)) {
        throw Error(ErrorCategory::usage, "There is no GPU number " + std::to_string(wanted) + ": the last one is " +
                                              std::to_string(count - 1) + ".");
    }
    const auto rank = [&](const CudaDevice& device) {
        if (!isUsable(device)) return -1;
        const bool drawing = !windowsDevice.empty() && device.uuid == windowsDevice;
        return drawing ? std::numeric_limits<int>::max() : device.multiprocessors;
    };
    const auto best =
        wanted == kAnyDevice ? std::ranges::max_element(status.devices, {}, rank) : status.devices.begin() + wanted;
    if (isUsable(*best)) return int(best - status.devices.begin());
    throw DeviceFailure("The " + best->text() + " is too old: a GPU of compute capability " +
                            std::to_string(kLeastMajor) + ".0 or newer is needed.",
                        true);
}

#ifdef MATTE_HAVE_CUDA
namespace {

/// CUDA counts 13.2 as 13020, and no driver as 0.
std::string versionText(int version) {
    return version == 0 ? "" : std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

CudaDevice describe(int index) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, index) != cudaSuccess) {
        cudaGetLastError();
        return {"device " + std::to_string(index) + ", which does not answer", 0, 0, 0, 0};
    }
    return {properties.name,           properties.major,
            properties.minor,          properties.multiProcessorCount,
            properties.totalGlobalMem, std::string(properties.uuid.bytes, sizeof properties.uuid.bytes)};
}

}  // namespace

CudaStatus queryCuda() {
    CudaStatus status;
    int runtime = 0, driver = 0, count = 0;
    cudaRuntimeGetVersion(&runtime);
    cudaDriverGetVersion(&driver);
    status.runtimeVersion = versionText(runtime);
    status.driverVersion = versionText(driver);
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count == 0) error = cudaErrorNoDevice;
    if (error != cudaSuccess) {
        cudaGetLastError();  // the error stays otherwise, and the next call would report it again
        status.unavailable =
            cudaUnavailable(error, cudaGetErrorString(error), status.runtimeVersion, status.driverVersion);
        return status;
    }
    for (int i = 0; i < count; ++i) status.devices.push_back(describe(i));
    return status;
}
#else
CudaStatus queryCuda() {
    CudaStatus status;
    status.unavailable = "This program was built without CUDA: build it where nvcc is installed to use a GPU.";
    return status;
}
#endif

}  // namespace matte
