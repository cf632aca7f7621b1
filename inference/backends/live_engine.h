// SPDX-License-Identifier: Apache-2.0
// The engine for live pictures, which have to be there in time. Any thread.
#pragma once

#include <memory>
#include <string>

#include "inference/engine/engine.h"

namespace matte {

/// With the model that people mean by `model`, as findModel() takes it. Without one it is the default, and where the
/// processor has to do all the work, from the beginning or once the GPU has failed, the light one. Throws what
/// loadNetwork() and Engine::create() do.
std::unique_ptr<Engine> makeLiveEngine(const std::string& model, EngineOptions options);

}  // namespace matte
