// SPDX-License-Identifier: Apache-2.0
// Times a network alone on the GPU: random input, a CUDA graph, CUDA events. One thread; the weights' device must be
// current.
#pragma once

#include "inference/cuda/cuda_network.h"

namespace matte {

struct NetworkTimes {
    std::vector<double> ms;                    ///< per run
    std::vector<std::vector<double>> layerMs;  ///< per layer and run, measured without overlap of layers
    std::vector<std::string> kernels;          ///< each layer's configuration
    std::size_t deviceBytes = 0;
};

/// Times `runs` runs after some warm-up runs. Throws CudaError.
NetworkTimes timeNetwork(const std::shared_ptr<const CudaWeights>& weights,
                         Size size,
                         const CudaNetwork::Choose& choose,
                         int runs);

}  // namespace matte
