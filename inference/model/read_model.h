// SPDX-License-Identifier: Apache-2.0
// What the model holds that people mean by a word, as findModel() takes it. One that comes with the program, and was
// found without a path, has to be the very file of this build: each byte counts. Any thread.
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
