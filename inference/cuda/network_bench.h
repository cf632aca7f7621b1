// SPDX-License-Identifier: Apache-2.0
// How long a network takes on the GPU by itself: random input, a graph, the device's own clock. One thread; the device
// that the weights belong to is current.
#pragma once

#include "inference/cuda/cuda_network.h"

namespace matte {

struct NetworkTimes {
    std::vector<double> ms;                    ///< of each run
    std::vector<std::vector<double>> layerMs;  ///< of each layer, of each run; the layers don't overlap then
    std::vector<std::string> kernels;          ///< of each layer: its configuration
    std::size_t deviceBytes = 0;
};

/// `runs` after a few that warm up. Throws CudaError.
NetworkTimes timeNetwork(const std::shared_ptr<const CudaWeights>& weights,
                         Size size,
                         const CudaNetwork::Choose& choose,
                         int runs);

}  // namespace matte
