// SPDX-License-Identifier: Apache-2.0
// The programs' exit codes, as documented in --help. Any thread.
#pragma once

#include "inference/core/error.h"

namespace matte {

enum ExitCode : int {
    kExitOk = 0,
    kExitUnexpected = 1,
    kExitUsage = 2,
    kExitInput = 3,
    kExitSource = 4,
    kExitModel = 5,
    kExitEngine = 6,
    kExitOutput = 7,
    kExitInterrupted = 130,  ///< as shells report a program ended by SIGINT
};

constexpr ExitCode exitCodeOf(ErrorCategory category) {
    switch (category) {
        case ErrorCategory::input: return kExitInput;
        case ErrorCategory::output: return kExitOutput;
        case ErrorCategory::model: return kExitModel;
        case ErrorCategory::engine: return kExitEngine;
        case ErrorCategory::usage: return kExitUsage;
        case ErrorCategory::source: return kExitSource;
    }
    return kExitUnexpected;
}

}  // namespace matte
