// SPDX-License-Identifier: Apache-2.0
// matte-cli info: what this program can do on this machine, and why not more. Main thread.
#pragma once

#include "inference/exit_code.h"

namespace matte {

/// Prints to stdout, for people or as one JSON object.
ExitCode runInfoCommand(bool json);

}  // namespace matte
