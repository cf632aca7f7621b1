// SPDX-License-Identifier: Apache-2.0
// Options that several commands share, and the parameters that result. Main thread.
#pragma once

#include <map>
#include <stop_token>
#include <string>

#include <CLI/CLI.hpp>

#include "inference/core/composite_params.h"
#include "inference/core/error.h"
#include "inference/engine/engine.h"

namespace matte {

/// An option that takes one of a few words. CLI11's own message for a wrong one lists the enumeration's numbers.
template <typename T>
void addChoice(CLI::App* app,
               const std::string& name,
               const std::string& help,
               T& target,
               const std::map<std::string, T>& choices) {
    const auto choose = [name, &target, choices](const std::string& word) {
        const auto found = choices.find(word);
        if (found != choices.end()) {
            target = found->second;
            return;
        }
        std::string words;
        for (const auto& choice : choices) words += (words.empty() ? "" : ", ") + choice.first;
        throw Error(ErrorCategory::usage, name + " does not know '" + word + "': use one of " + words + ".");
    };
    app->add_option_function<std::string>(name, choose, help)->type_name("WHICH");
}

/// --model.
void addModelOption(CLI::App* app, std::string& model);
/// --temporal-smoothing, and --steadiness, its former name.
void addSmoothingOption(CLI::App* app, CompositeParams& params, const std::string& help);
/// --engine.
void addEngineOption(CLI::App* app, EngineKind& kind);
/// --engine, --device and --precision.
void addEngineChoices(CLI::App* app, EngineOptions& engine);

/// A command's options about compositing.
struct CompositeOptions {
    std::string background = "blur";  ///< as parseBackground() reads it
    CompositeParams params;           ///< but for its background's kind, colour and strength
};

/// --background, --placement, --position, --threshold, --softness and --no-decontaminate. `videoNote` is said of
/// video:PATH.
void addCompositeOptions(CLI::App* app, CompositeOptions& options, const std::string& videoNote);
/// --threshold and --softness alone.
void addEdgeOptions(CLI::App* app, CompositeParams& params);
/// Throws Error(usage) for either outside of its range.
void checkEdge(const CompositeParams& params);
/// Throws Error(usage) for a value outside of 0 to 1, also for a NaN, which CLI11's own check lets through.
void checkUnitInterval(const char* option, float value);
/// Throws Error(usage) for what is out of its range, or no background; reads no file.
Background checkedBackground(const CompositeOptions& options);
/// The parameters; a background from a file is read, if it `isNeeded`. Throws Error(input) and Cancelled.
CompositeParams readParams(const CompositeOptions& options,
                           const Background& background,
                           bool isNeeded,
                           const std::stop_token& stop);

}  // namespace matte
