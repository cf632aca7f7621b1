// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/conv/conv.h"

#include <array>

namespace matte {
namespace {

ConvLaunch::Call prepare(const ConvShape& shape,
                         const ConvConfig& config,
                         const ConvBuffers& buffers,
                         const DeviceFacts& device) {
    if (shape.direct()) return prepareDirect(shape, config, buffers, device);
    switch (config.kernel) {
        case ConvKernel::sm90: return prepareSm90(shape, config, buffers, device);
        case ConvKernel::fp32: return prepareFp32(shape, config, buffers);
        default: return prepareMma(shape, config, buffers, device);
    }
}

}  // namespace

ConvLaunch::ConvLaunch(const ConvShape& shape,
                       const ConvConfig& config,
                       const ConvBuffers& buffers,
                       const DeviceFacts& device)
    : call_(prepare(shape, config, buffers, device)) {}

void ConvLaunch::operator()(cudaStream_t stream, bool overlap) const {
    std::array<cudaLaunchAttribute, 2> attributes{};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(unsigned(call_.blocks));
    config.blockDim = dim3(unsigned(call_.threads));
    config.dynamicSmemBytes = std::size_t(call_.sharedBytes);
    config.stream = stream;
    config.attrs = attributes.data();
    if (call_.cluster > 1) {
        attributes[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
        attributes[config.numAttrs++].val.clusterDim = {unsigned(call_.cluster), 1, 1};
    }
    if (overlap && call_.canOverlap) {
        attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
    }
    void* arguments[] = {call_.argument.get()};
    CUDA_CHECK(cudaLaunchKernelExC(&config, call_.kernel, arguments));
}

}  // namespace matte
