// SPDX-License-Identifier: Apache-2.0
#include "inference/baselines/live/method_network.h"

#include <algorithm>

#include <omp.h>

#include "inference/baselines/rungs.h"
#include "inference/core/parallel.h"
#include "inference/cpu/cpu_engine.h"

namespace matte::ladder {

MethodNetwork::MethodNetwork(const Method& method, ModelPointer model) : method_(method), model_(std::move(model)) {
    if (onGpu() && whyUnavailable(method_).empty()) useFirstDevice();
    network_ = makeNetwork(method_, model_);
}

void MethodNetwork::configure(Size size) {
    if (size == size_) return;
    if (onGpu()) useFirstDevice();
    size_ = {};
    network_->configure(size);
    input_.resize(3 * size.pixels());
    alpha_.resize(size.pixels());
    size_ = size;
}

void MethodNetwork::run(std::stop_token stop, std::vector<float>* layerMs) {
    if (onGpu()) useFirstDevice();
    omp_set_num_threads(threads());  // what the methods for the CPU are made with
    network_->stopBy(stop.stop_possible() ? stop : stop_);
    network_->timeLayers(layerMs != nullptr);
    report_ = network_->run(input_, alpha_);
    if (layerMs) *layerMs = report_.layerMs;
    if (allFinite(alpha_)) return;
    throw Error(Area::engine, "The method " + std::string(method_.name) +
                                  " gave values that are not finite, which is no matte: choose another one.");
}

std::string MethodNetwork::name() const {
    return "method " + std::string(method_.name);
}

std::string MethodNetwork::implementation(int) const {
    return std::string(method_.name);
}

std::unique_ptr<HostNetwork> makeProductNetwork(EngineKind kind, Precision precision, const ModelPointer& model) {
    const bool fast = precision == Precision::fast;
    if (kind == EngineKind::cpu) {
        return std::make_unique<CpuNetwork>(model->unet, fast ? CpuNetwork::bestPrecision() : CpuPrecision::f32);
    }
    for (const char* name : {"gpu-wgmma", "gpu-mma"}) {
        const Method& method = methodNamed(name);
        if (fast && whyUnavailable(method).empty()) return std::make_unique<MethodNetwork>(method, model);
    }
    return std::make_unique<MethodNetwork>(methodNamed("gpu-implicit"), model);
}

std::unique_ptr<Engine> makeMethodEngine(const Method& method,
                                         const ModelPointer& model,
                                         const EngineOptions& options) {
    return std::make_unique<CpuEngine>(std::make_unique<MethodNetwork>(method, model), options, "");
}

}  // namespace matte::ladder
