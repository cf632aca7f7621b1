// SPDX-License-Identifier: Apache-2.0
// matte-cli bench: how long the network, its layers and a whole frame take on this machine, on random data. Main
// thread.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>

#include "inference/core/exit_code.h"
#include "inference/engine/engine.h"

namespace CLI {
class App;
}

namespace matte {

struct BenchOptions {
    std::string model;         ///< as findModel() reads it; base goes first
    int base = 0, levels = 5;  ///< base > 0: random weights, base << level channels
    std::string size;          ///< WxH of the network's input; empty: what the model takes for the frame
    std::string frame = "1920x1080";
    std::string kernel;  ///< of the network on CUDA: sm90, mma or fp32; empty: the engine's own
    EngineOptions engine;
    int frames = 50;
    bool layers = false;
    bool overlayCost = false;  ///< that alone
    std::filesystem::path json;
};

/// Makes `bench` known to the command line; `options` must live until it has been parsed.
CLI::App* addBenchCommand(CLI::App& app, BenchOptions& options);
/// Prints to stdout and writes options.json. Throws Error(usage, model, engine, output), Cancelled.
ExitCode runBenchCommand(const BenchOptions& options, const std::stop_token& stop);

}  // namespace matte
