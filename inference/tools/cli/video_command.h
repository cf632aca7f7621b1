// SPDX-License-Identifier: Apache-2.0
// matte-cli video: a whole video with another background. Main thread.
#pragma once

#include <stop_token>
#include <string>

#include "inference/core/exit_code.h"
#include "inference/tools/cli/options.h"

namespace matte {

struct VideoOptions {
    std::string input, output;
    CompositeOptions composite;
    std::string model;  ///< empty: the default one
    EngineOptions engine;
    bool matteOnly = false, json = false, quiet = false;
};

/// The subcommand, which fills `options`.
CLI::App* addVideoCommand(CLI::App& app, VideoOptions& options);

/// Throws Error and Cancelled; kExitInput when what is written is not all of it.
ExitCode runVideoCommand(const VideoOptions& options, std::stop_token stop);

}  // namespace matte
