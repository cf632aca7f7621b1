// SPDX-License-Identifier: Apache-2.0
// Makes the engine that a program asked for: CUDA when it is usable, the CPU otherwise, and the CPU after a GPU that
// fails later. Any thread.
#pragma once

#include <memory>
#include <string>

#include "inference/engine/live_queue.h"

namespace matte {

/// For photos. `automatic` takes CUDA when it is usable and the CPU otherwise. Throws Error(engine) when the one asked
/// for is not there, Error(model) when the network fails its self-test (self_test.h).
std::unique_ptr<PhotoEngine> createPhotoEngine(UNet network, const EngineOptions& options);

/// For live frames; throws as createPhotoEngine() does.
LiveEngines createLiveEngines(UNet network, const EngineOptions& options);

/// For live frames with the model that people mean by `model`, as findModel() takes it. Without one it is the default,
/// and where the processor has to do all the work, from the beginning or once the GPU has failed, the light one. Throws
/// what loadNetwork() and createLiveEngines() do.
LiveEngines makeLiveEngines(const std::string& model, EngineOptions options);

}  // namespace matte
