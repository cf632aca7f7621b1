// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/conv/conv.h"

namespace matte {

namespace {

std::unique_ptr<ConvLaunch::Prepared> prepare(const ConvShape& shape,
                                              const ConvConfig& config,
                                              const ConvBuffers& buffers,
                                              const DeviceFacts& device) {
    if (shape.direct()) return prepareDirect(shape, config, buffers, device);
    switch (config.kernel) {
        case ConvKernel::sm90: return prepareSm90(shape, config, buffers, device);
        case ConvKernel::fp32: return prepareFp32(shape, config, buffers, device);
        default: return prepareMma(shape, config, buffers, device);
    }
}

}  // namespace

ConvLaunch::ConvLaunch(const ConvShape& shape,
                       const ConvConfig& config,
                       const ConvBuffers& buffers,
                       const DeviceFacts& device)
    : prepared_(prepare(shape, config, buffers, device)) {}
ConvLaunch::~ConvLaunch() = default;
ConvLaunch::ConvLaunch(ConvLaunch&&) noexcept = default;

void ConvLaunch::operator()(cudaStream_t stream, bool overlap) const {
    prepared_->launch(stream, overlap);
}

}  // namespace matte
