// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/conv.h"

namespace matte {

ConvLaunch::ConvLaunch(const ConvShape& shape,
                       const ConvConfig& config,
                       const ConvBuffers& buffers,
                       const DeviceFacts& device)
    : prepared_(config.kernel == ConvKernel::sm90 ? prepareSm90(shape, config, buffers, device)
                                                  : prepareMma(shape, config, buffers, device)) {}
ConvLaunch::~ConvLaunch() = default;
ConvLaunch::ConvLaunch(ConvLaunch&&) noexcept = default;

void ConvLaunch::operator()(cudaStream_t stream, bool overlap) const {
    prepared_->launch(stream, overlap);
}

}  // namespace matte
