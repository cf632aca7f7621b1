// SPDX-License-Identifier: Apache-2.0
// matte-cli evaluate: how good a model's mattes are, as an engine makes them. Main thread.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "inference/core/composite_params.h"
#include "inference/core/exit_code.h"
#include "inference/engine/engine.h"

namespace CLI {
class App;
}

namespace matte {

struct EvaluateOptions {
    std::vector<std::string>
        inputs;              ///< folders of photos with mattes; for sequences folders of frames, videos, test:person
    std::vector<int> sizes;  ///< longest sides of the network's input; empty: the model's own
    std::string model;       ///< a file or a name; empty: the default one
    std::string engine = "auto";
    bool sequence = false;
    CompositeParams params;  ///< threshold, softness and, of sequences, temporal smoothing: what users get unless
                             ///< others are asked for
    bool json = false, quiet = false;
};

/// Makes `evaluate` known to the command line; `options` must live until it has been parsed.
CLI::App* addEvaluateCommand(CLI::App& app, EvaluateOptions& options);
/// Prints to stdout, failures to stderr. A photo that can't be used does not stop the others; the exit code is the
/// first failure's. Throws Error and Cancelled.
ExitCode runEvaluateCommand(const EvaluateOptions& options, std::stop_token stop);

}  // namespace matte
