// SPDX-License-Identifier: Apache-2.0
#include "inference/live/live_engine.h"

#include <utility>

#include "inference/model/default_model.h"
#include "inference/model/safetensors.h"

namespace matte {
namespace {

UNet loadNetwork(const std::string& model) {
    return UNet::load(Safetensors::read(findModel(model)));
}

}  // namespace

std::unique_ptr<Engine> makeLiveEngine(const std::string& model, EngineOptions options) {
    if (model.empty()) options.cpuNetwork = [] { return loadNetwork(kLiteModel); };
    return Engine::create(loadNetwork(model), options);
}

}  // namespace matte
