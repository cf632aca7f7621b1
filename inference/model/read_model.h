// SPDX-License-Identifier: Apache-2.0
// Reads the model that a word names, as findModel() takes it. A model that comes with the program and was named without
// a path must be the file of this build, byte for byte. Any thread.
#pragma once

#include <string>

#include "inference/model/unet.h"

namespace matte {

/// Throws Error(model) when a model of the program has another SHA-256 than at build time, and what findModel() and
/// Safetensors::parse() do.
Safetensors readModel(const std::string& word);
/// Throws what readModel() and UNet::load() do.
UNet loadNetwork(const std::string& word);

}  // namespace matte
