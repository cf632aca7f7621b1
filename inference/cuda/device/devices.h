// SPDX-License-Identifier: Apache-2.0
// What NVIDIA devices there are, told without a CUDA header and without needing a driver. Any thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace matte {

struct CudaDevice {
    std::string name;
    int computeMajor = 0, computeMinor = 0;
    int multiprocessors = 0;
    std::size_t memoryBytes = 0;
    std::string uuid{};  ///< 16 bytes, the same for every interface of the driver
};

struct CudaStatus {
    std::vector<CudaDevice> devices;
    std::string runtimeVersion, driverVersion;  ///< "13.0"; empty when there is none
    std::string unavailable;  ///< why there is no usable device, as a sentence; empty when there is one
};

CudaStatus queryCuda();

/// Index in status.devices of the GPU to compute on: `wanted`; or with kAnyDevice the one that draws the window, whose
/// UUID is `windowsDevice`; or, where that is empty or no such device, the one with the most multiprocessors. Throws
/// DeviceFailure when there is none that is new enough, and Error(usage) for a number that no device has.
int chooseDevice(const CudaStatus& status, int wanted, const std::string& windowsDevice);

/// The sentence for a CUDA runtime error met while looking for devices. `what` is CUDA's own text for it; versions are
/// as in CudaStatus.
std::string cudaUnavailable(int error,
                            const std::string& what,
                            const std::string& runtimeVersion,
                            const std::string& driverVersion);

}  // namespace matte
