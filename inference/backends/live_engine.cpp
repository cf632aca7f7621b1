// SPDX-License-Identifier: Apache-2.0
#include "inference/backends/live_engine.h"

#include "inference/model/default_model.h"
#include "inference/model/read_model.h"

namespace matte {

std::unique_ptr<Engine> makeLiveEngine(const std::string& model, EngineOptions options) {
    if (model.empty()) options.cpuNetwork = [] { return loadNetwork(kLiteModel); };
    return Engine::create(loadNetwork(model), options);
}

}  // namespace matte
