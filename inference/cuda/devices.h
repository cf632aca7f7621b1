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
};

struct CudaStatus {
    std::vector<CudaDevice> devices;
    std::string runtimeVersion, driverVersion;  ///< "13.0"; empty when there is none
    std::string unavailable;  ///< why there is no usable device, as a sentence; empty when there is one
};

CudaStatus queryCuda();

/// The sentence for a CUDA runtime error met while looking for devices. `what` is CUDA's own text for it; versions are
/// as in CudaStatus.
std::string cudaUnavailable(int error,
                            const std::string& what,
                            const std::string& runtimeVersion,
                            const std::string& driverVersion);

}  // namespace matte
