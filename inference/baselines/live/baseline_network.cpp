// SPDX-License-Identifier: Apache-2.0
#include "inference/baselines/live/baseline_network.h"

#include <algorithm>

#include <omp.h>

#include "inference/baselines/baselines.h"
#include "inference/core/parallel.h"
#include "inference/cpu/cpu_engine.h"

namespace matte::baselines {

BaselineNetwork::BaselineNetwork(const Implementation& implementation, ModelPointer model)
    : implementation_(implementation), model_(std::move(model)) {
    if (onGpu() && whyUnavailable(implementation_).empty()) useFirstDevice();
    network_ = makeNetwork(implementation_, model_);
}

void BaselineNetwork::configure(Size size) {
    if (size == size_) return;
    if (onGpu()) useFirstDevice();
    size_ = {};
    network_->configure(size);
    input_.resize(3 * size.pixels());
    alpha_.resize(size.pixels());
    size_ = size;
}

void BaselineNetwork::run(std::stop_token stop, std::vector<float>* layerMs) {
    if (onGpu()) useFirstDevice();
    omp_set_num_threads(threads());  // what the implementations for the CPU are made with
    network_->stopBy(stop.stop_possible() ? stop : stop_);
    network_->timeLayers(layerMs != nullptr);
    report_ = network_->run(input_, alpha_);
    if (layerMs) *layerMs = report_.layerMs;
    if (allFinite(alpha_)) return;
    throw Error(ErrorCategory::engine, "The implementation " + std::string(implementation_.name) +
                                           " gave values that are not finite, which is no matte: choose another one.");
}

std::string BaselineNetwork::name() const {
    return "implementation " + std::string(implementation_.name);
}

std::string BaselineNetwork::implementation(int) const {
    return std::string(implementation_.name);
}

std::unique_ptr<HostNetwork> makeProductNetwork(EngineKind kind, Precision precision, const ModelPointer& model) {
    const bool fast = precision == Precision::fast;
    if (kind == EngineKind::cpu) {
        return std::make_unique<CpuNetwork>(model->unet, fast ? CpuNetwork::bestPrecision() : CpuPrecision::f32);
    }
    for (const char* name : {"gpu-wgmma", "gpu-mma"}) {
        const Implementation& implementation = implementationNamed(name);
        if (fast && whyUnavailable(implementation).empty())
            return std::make_unique<BaselineNetwork>(implementation, model);
    }
    return std::make_unique<BaselineNetwork>(implementationNamed("gpu-implicit"), model);
}

std::unique_ptr<Engine> makeBaselineEngine(const Implementation& implementation,
                                           const ModelPointer& model,
                                           const EngineOptions& options) {
    return std::make_unique<CpuEngine>(std::make_unique<BaselineNetwork>(implementation, model), options, "");
}

}  // namespace matte::baselines
