// SPDX-License-Identifier: Apache-2.0
// The measured choice among a layer's ranked configurations: the best few are timed on the device when a network first
// meets an input size, and the fastest is remembered in the user's cache folder. One thread at a time; the device that
// the weights belong to is current. Not needed for a network to run: without it the first of the ranked is taken.
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
    /// For networks of `weights`. Reads `file`, where it also writes.
    explicit ConvTuner(std::shared_ptr<const CudaWeights> weights, std::filesystem::path file = TuneCache::userFile());
    ~ConvTuner();
    ConvTuner(const ConvTuner&) = delete;
    ConvTuner& operator=(const ConvTuner&) = delete;

    /// The remembered configuration, or the fastest of the first few after timing them, which takes milliseconds for
    /// each layer and less than two seconds for all layers of a size: what is over that limit, or does not fit the
    /// device's memory, runs as ranked. Throws CudaError when the device fails.
    ConvConfig operator()(const ConvShape& shape, const std::vector<ConvConfig>& ranked);

    /// A tuner as a network wants it.
    static CudaNetwork::Choose choose(std::shared_ptr<const CudaWeights> weights);

private:
    class Bench;
    std::shared_ptr<const CudaWeights> weights_;
    TuneCache cache_;
    std::chrono::steady_clock::duration spent_{};  ///< on the current size
};

}  // namespace matte
