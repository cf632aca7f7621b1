// SPDX-License-Identifier: Apache-2.0
// Lists the NVIDIA devices. Needs neither CUDA headers nor an installed driver. Any thread.
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
    std::string uuid{};  ///< 16 bytes, the same in CUDA and OpenGL
    /// "NVIDIA H200 (compute capability 9.0)".
    [[nodiscard]] std::string text() const;
};

struct CudaStatus {
    std::vector<CudaDevice> devices;
    std::string runtimeVersion, driverVersion;  ///< "13.0"; empty if not installed
    std::string unavailable;                    ///< why there is no usable device, a sentence; empty if there is one
};

CudaStatus queryCuda();

/// Index in status.devices of the GPU to compute on: `wanted`, or for kAnyDevice the one whose UUID is `windowsDevice`,
/// or else the one with the most multiprocessors. Throws DeviceFailure when no device is new enough, and Error(usage)
/// when `wanted` is not a device.
int chooseDevice(const CudaStatus& status, int wanted, const std::string& windowsDevice);

/// The message for a CUDA runtime error from the device query. `what` is CUDA's error text; versions as in CudaStatus.
std::string cudaUnavailable(int error,
                            const std::string& what,
                            const std::string& runtimeVersion,
                            const std::string& driverVersion);

}  // namespace matte
