// SPDX-License-Identifier: Apache-2.0
// The commands of matte-cli: their options, and what runs them. Each add…Command() adds a subcommand that fills its
// options, which must live until the command line has been parsed; each run…Command() prints to stdout and gives the
// exit code. Main thread.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "inference/core/exit_code.h"
#include "inference/tools/cli/options.h"

namespace matte {

// matte-cli image: cuts people out of photos and lays them over a new background

struct ImageOptions {
    std::vector<std::string> inputs;  ///< files, folders and patterns
    std::string output;               ///< a file or a folder: see pairWithOutputs()
    CompositeOptions composite;
    std::string model;  ///< empty: the default one
    EngineOptions engine;
    std::string implementation;  ///< of the baselines, for the network; empty: the engine's own
    bool matteOnly = false, json = false, quiet = false;
};

/// What went wrong with one picture goes to stderr, and the others go on; the code is then the first failure's. Throws
/// Error for what concerns all of them, and Cancelled.
ExitCode runImageCommand(const ImageOptions& options, std::stop_token stop);

/// `matte-cli: sentence` on stderr.
void printMessage(const std::string& sentence);

// matte-cli video: a whole video with another background

struct VideoOptions {
    std::string input, output;
    CompositeOptions composite;
    std::string model;  ///< empty: the default one
    EngineOptions engine;
    bool matteOnly = false, json = false, quiet = false;
};

CLI::App* addVideoCommand(CLI::App& app, VideoOptions& options);

/// Throws Error and Cancelled; kExitInput when what is written is not all of it.
ExitCode runVideoCommand(const VideoOptions& options, std::stop_token stop);

// matte-cli info: what this program can do on this machine, and why not more

/// Prints to stdout, for people or as one JSON object.
ExitCode runInfoCommand(bool json);
/// Prints what the file of `model`, as findModel() reads it, is to hold as known_answer: by single precision on the
/// CPU. Throws Error(model).
ExitCode printKnownAnswer(const std::string& model);

// matte-cli evaluate: how good a model's mattes are, as an engine makes them

struct EvaluateOptions {
    std::vector<std::string> inputs;  ///< folders of photos with mattes; of sequences: of frames, videos, test:person
    std::vector<int> sizes;           ///< longest sides of the network's input; empty: the model's own
    std::string model;                ///< a file or a name; empty: the default one
    EngineKind engine = EngineKind::automatic;
    bool sequence = false;
    double frameRate = 30;   ///< of folders of frames
    bool everyBand = false;  ///< scores the unknown bands of hard mattes too
    CompositeParams params;  ///< threshold, softness and, of sequences, temporal smoothing
    bool json = false, quiet = false;
};

CLI::App* addEvaluateCommand(CLI::App& app, EvaluateOptions& options);
/// Failures go to stderr. A photo that can't be used does not stop the others; the exit code is the
/// first failure's. Throws Error and Cancelled.
ExitCode runEvaluateCommand(const EvaluateOptions& options, std::stop_token stop);

// matte-cli bench: how long the network, its layers and a whole frame take on this machine, on random data

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

CLI::App* addBenchCommand(CLI::App& app, BenchOptions& options);
/// Writes options.json too. Throws Error(usage, model, engine, output), Cancelled.
ExitCode runBenchCommand(const BenchOptions& options, const std::stop_token& stop);

// matte-cli lab: the tables of the course that Matte grew from, measured on this machine

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

CLI::App* addLabCommand(CLI::App& app, LabCommandOptions& options);
/// What is being measured goes to stderr. Throws Error(usage), Error(model), Error(engine), Cancelled.
ExitCode runLabCommand(const LabCommandOptions& options, std::stop_token stop);

}  // namespace matte
