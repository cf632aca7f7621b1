// SPDX-License-Identifier: Apache-2.0
// matte-cli lab: the tables of the course that Matte grew from, measured on this machine. Main thread.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "inference/core/exit_code.h"

namespace CLI {
class App;
}

namespace matte {

struct LabCommandOptions {
    std::vector<std::string> tables;           ///< conv, layers, network, xnor, stencil; empty: all
    std::vector<std::string> implementations;  ///< names of baselines::implementations(); empty: all
    std::string device;                        ///< cpu or gpu; empty: both
    std::string only;                          ///< conv, layers: the layers whose name holds this
    std::string model;                         ///< as findModel() reads it; empty: random weights
    std::filesystem::path dump;
    int size = 512;
    bool json = false, markdown = false, quiet = false;
};

/// Makes `lab` known to the command line; `options` must live until it has been parsed.
CLI::App* addLabCommand(CLI::App& app, LabCommandOptions& options);
/// Prints to stdout, and what is being measured to stderr. Throws Error(usage), Error(model), Error(engine), Cancelled.
ExitCode runLabCommand(const LabCommandOptions& options, std::stop_token stop);

}  // namespace matte
