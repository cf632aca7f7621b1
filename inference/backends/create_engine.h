// SPDX-License-Identifier: Apache-2.0
// Creates engines: CUDA if it is usable, else the CPU; if the GPU fails later, the CPU takes over. Any thread.
#pragma once

#include <memory>
#include <string>

#include "inference/engine/live_queue.h"

namespace matte {

/// Throws Error(engine) when the requested engine is not available, Error(model) when the network fails its self-test
/// (self_test.h).
std::unique_ptr<PhotoEngine> createPhotoEngine(UNet network, const EngineOptions& options);

/// Throws as createPhotoEngine().
LiveEngines createLiveEngines(UNet network, const EngineOptions& options);

/// Live engines for a model as in findModel(). If `model` is empty, GPUs use the default model and the CPU, from the
/// start or after the GPU has failed, the light one. Throws as loadNetwork() and createLiveEngines().
LiveEngines makeLiveEngines(const std::string& model, EngineOptions options);

}  // namespace matte
