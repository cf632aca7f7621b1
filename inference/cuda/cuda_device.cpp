// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/cuda_device.h"

#include "inference/cuda/cuda_network.h"
#include "inference/cuda/device/devices.h"

namespace matte {

int openDevice(const EngineOptions& options) {
    const CudaStatus status = queryCuda();
    const int index = chooseDevice(status, options.device, options.windowsDevice);
    cudaError_t error = cudaSetDevice(index);
    if (error == cudaSuccess) error = probeKernels();
    if (error == cudaSuccess) return index;
    cudaGetLastError();
    if (error == cudaErrorNoKernelImageForDevice) {
        throw DeviceFailure("This program was built for other GPUs (" MATTE_CUDA_ARCHITECTURES ") than the " +
                                status.devices[std::size_t(index)].text() +
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
