// SPDX-License-Identifier: Apache-2.0
// ConvTuner: autotuning of a layer's configuration. For each new input size the best-ranked few are timed on the device
// and the fastest is stored in the user's cache folder. One thread at a time; the weights' device must be current.
// Optional: without it a network uses the top-ranked configuration.
//
//     CudaNetwork network(weights, ConvTuner::choose(weights));  // all slots of an engine share one choice:
//     CudaNetwork second(weights, choice);                       // copies of it share what was measured
#pragma once

#include <chrono>
#include <memory>

#include "inference/cuda/conv/tune_cache.h"
#include "inference/cuda/cuda_network.h"

namespace matte {

class ConvTuner {
public:
    /// For networks that use `weights`. `file` is the cache to read and write.
    explicit ConvTuner(std::shared_ptr<const CudaWeights> weights, std::filesystem::path file = TuneCache::userFile());
    ~ConvTuner();
    ConvTuner(const ConvTuner&) = delete;
    ConvTuner& operator=(const ConvTuner&) = delete;

    /// The cached configuration, or the fastest of the top-ranked few. Timing takes milliseconds per layer and less
    /// than two seconds per input size; beyond that limit, or if device memory is too small, returns the top-ranked
    /// one. Throws CudaError when the device fails.
    ConvConfig operator()(const ConvShape& shape, const std::vector<ConvConfig>& ranked);

    /// A tuner as a CudaNetwork::Choose.
    static CudaNetwork::Choose choose(std::shared_ptr<const CudaWeights> weights);

private:
    class Bench;
    std::shared_ptr<const CudaWeights> weights_;
    TuneCache cache_;
    std::chrono::steady_clock::duration spent_{};  ///< on the current input size
};

}  // namespace matte
