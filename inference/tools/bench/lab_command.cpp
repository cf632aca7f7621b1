// SPDX-License-Identifier: Apache-2.0
#include "inference/tools/cli/commands.h"

#include <algorithm>
#include <cstdio>

#include <unistd.h>

#include <CLI/CLI.hpp>

#include "inference/baselines/lab/lab.h"
#include "inference/core/error.h"
#include "inference/model/default_model.h"

namespace matte {
namespace {

using MakeTables = std::vector<baselines::Table> (*)(const baselines::LabOptions&);
struct LabTable {
    const char* name;
    MakeTables make;
};
constexpr LabTable kTables[] = {{"conv", baselines::labConv},
                                {"layers", baselines::labLayers},
                                {"network", baselines::labNetwork},
                                {"xnor", baselines::labXnor},
                                {"stencil", baselines::labStencil}};

MakeTables tableNamed(const std::string& name) {
    const auto found = std::ranges::find_if(kTables, [&](const LabTable& table) { return table.name == name; });
    if (found != std::end(kTables)) return found->make;
    throw Error(ErrorCategory::usage,
                "The lab has no table '" + name + "': use conv, layers, network, xnor or stencil.");
}

std::string implementationList() {
    std::string all = "Implementations:\n";
    for (const baselines::Implementation& implementation : baselines::implementations()) {
        const std::string why = baselines::whyUnavailable(implementation);
        char line[160];
        std::snprintf(line, sizeof line, "  %-16s %s%s\n", std::string(implementation.name).c_str(),
                      std::string(implementation.title).c_str(), why.empty() ? "" : " (not on this machine)");
        all += line;
    }
    return all;
}

}  // namespace

CLI::App* addLabCommand(CLI::App& app, LabCommandOptions& options) {
    CLI::App* lab = app.add_subcommand("lab", "Measure every way to run the network, from plain loops to tensor cores");
    lab->footer(implementationList);
    lab->add_option("TABLE", options.tables, "conv, layers, network, xnor or stencil; all of them when none is named");
    lab->add_option("--implementations", options.implementations, "Only these implementations, separated by commas")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("NAMES");
    lab->add_option("--methods", options.implementations)
        ->delimiter(',')
        ->allow_extra_args(false)
        ->group("");  // formerly
    lab->add_option("--device", options.device, "Only this device: cpu or gpu")->type_name("WHICH");
    lab->add_option("--only", options.only, "conv, layers: only layers whose name holds this, such as 64x128")
        ->type_name("TEXT");
    lab->add_option("--model", options.model,
                    "network: a .safetensors file, portrait or portrait-lite instead of 64 to 1024 random channels")
        ->type_name("MODEL");
    lab->add_option("--size", options.size, "network: longest side of the input, in pixels")
        ->check(CLI::Range(16, 2048).description(""))
        ->type_name("N");
    lab->add_option("--dump", options.dump, "network: a folder with PyTorch's activations to compare with")
        ->type_name("FOLDER");
    lab->add_flag("--json", options.json, "Print JSON");
    lab->add_flag("--markdown", options.markdown, "Print Markdown");
    lab->add_flag("--quiet", options.quiet, "Don't tell what is being measured");
    return lab;
}

ExitCode runLabCommand(const LabCommandOptions& options, std::stop_token stop) {
    if (options.json && options.markdown)
        throw Error(ErrorCategory::usage, "--json and --markdown exclude each other: use one.");
    baselines::LabOptions lab;
    for (const std::string& name : options.implementations)
        lab.implementations.push_back(&baselines::implementationNamed(name));
    if (!options.device.empty() && options.device != "cpu" && options.device != "gpu") {
        throw Error(ErrorCategory::usage, "--device does not know '" + options.device + "': use cpu or gpu.");
    }
    if (!options.device.empty()) lab.where = options.device == "cpu" ? baselines::Where::cpu : baselines::Where::gpu;
    lab.only = options.only;
    if (!options.model.empty()) lab.model = findModel(options.model);
    lab.dump = options.dump;
    lab.size = {options.size, options.size};
    lab.stop = std::move(stop);
    // In a terminal one line that is written over; in a log, nothing.
    const bool tell = !options.quiet && ::isatty(STDERR_FILENO) == 1;
    if (tell) lab.progress = [](const std::string& what) { std::fprintf(stderr, "\r\033[K%s", what.c_str()); };
    std::vector<MakeTables> makers;
    for (const std::string& name : options.tables) makers.push_back(tableNamed(name));
    if (makers.empty()) std::ranges::transform(kTables, std::back_inserter(makers), &LabTable::make);
    std::vector<baselines::Table> tables;
    for (const MakeTables make : makers) std::ranges::move(make(lab), std::back_inserter(tables));
    if (tell) std::fputs("\r\033[K", stderr);
    const auto print = options.json ? baselines::asJson : options.markdown ? baselines::asMarkdown : baselines::asText;
    std::fputs(print(tables).c_str(), stdout);
    return kExitOk;
}

}  // namespace matte
