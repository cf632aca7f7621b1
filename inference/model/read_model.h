// SPDX-License-Identifier: Apache-2.0
// Loads a model by its word, as for findModel(). A bundled model that was not given by path must match its SHA-256 of
// this build. Any thread.
#pragma once

#include <string>

#include "inference/model/unet.h"

namespace matte {

/// Throws Error(model) when a bundled model's SHA-256 does not match, and as findModel() and Safetensors::parse().
Safetensors readModel(const std::string& word);
/// Throws as readModel() and UNet::load().
UNet loadNetwork(const std::string& word);

}  // namespace matte
