// SPDX-License-Identifier: Apache-2.0
// matte-cli image: cuts people out of photos and lays them over a new background. Main thread.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "inference/core/exit_code.h"
#include "inference/tools/cli/options.h"

namespace matte {

struct ImageOptions {
    std::vector<std::string> inputs;  ///< files, folders and patterns
    std::string output;               ///< a file or a folder: see pairWithOutputs()
    CompositeOptions composite;
    std::string model;  ///< empty: the default one
    EngineOptions engine;
    std::string implementation;  ///< of the baselines, for the network; empty: the engine's own
    bool matteOnly = false, json = false, quiet = false;
};

/// The results go to stdout, what went wrong with one picture to stderr, and the others go on; the code is then the
/// first failure's. Throws Error for what concerns all of them, and Cancelled.
ExitCode runImageCommand(const ImageOptions& options, std::stop_token stop);

/// `matte-cli: sentence` on stderr.
void printMessage(const std::string& sentence);

}  // namespace matte
