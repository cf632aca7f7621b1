// SPDX-License-Identifier: Apache-2.0
// matte-cli info: what this program can do on this machine, and why not more. Main thread.
#pragma once

#include <string>

#include "inference/core/exit_code.h"

namespace matte {

/// Prints to stdout, for people or as one JSON object.
ExitCode runInfoCommand(bool json);
/// Prints what the file of `model`, as findModel() reads it, is to hold as known_answer: by single precision on the
/// CPU. Throws Error(model).
ExitCode printKnownAnswer(const std::string& model);

}  // namespace matte
