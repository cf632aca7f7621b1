// SPDX-License-Identifier: Apache-2.0
#include "inference/tools/cli/options.h"

#include "inference/media/background_file.h"

namespace matte {

void checkUnitInterval(const char* option, float value) {
    if (!(value >= 0 && value <= 1)) {
        throw Error(ErrorCategory::usage, std::string(option) + " must be between 0 and 1: try 0.5.");
    }
}

void addModelOption(CLI::App* app, std::string& model) {
    app->add_option("--model", model, "Another model: a .safetensors file, or portrait-lite")->type_name("MODEL");
}

void addSmoothingOption(CLI::App* app, CompositeParams& params, const std::string& help) {
    app->add_option("--temporal-smoothing", params.temporalSmoothing, help)->capture_default_str()->type_name("S");
    app->add_option("--steadiness", params.temporalSmoothing)->group("");
}

void addEngineOption(CLI::App* app, EngineKind& kind) {
    addChoice(app, "--engine", "What computes: auto, cpu or cuda", kind,
              {{"auto", EngineKind::automatic}, {"cpu", EngineKind::cpu}, {"cuda", EngineKind::cuda}});
}

void addEngineChoices(CLI::App* app, EngineOptions& engine) {
    addEngineOption(app, engine.kind);
    app->add_option("--device", engine.device, "CUDA: the GPU with this number in matte-cli info; else the fastest")
        ->check(CLI::Range(0, 1023).description(""))
        ->type_name("N");
    addChoice(app, "--precision", "fast, or fp32: every value in single precision, for comparing", engine.precision,
              {{"fast", Precision::fast}, {"fp32", Precision::fp32}});
}

void addEdgeOptions(CLI::App* app, CompositeParams& params) {
    app->add_option("--threshold", params.threshold, "Where the edge lies, 0 to 1; lower keeps more")
        ->capture_default_str()
        ->type_name("T");
    app->add_option("--softness", params.softness, "How soft the edge is, 0 to 1; 1 leaves it as it was found")
        ->capture_default_str()
        ->type_name("S");
}

void checkEdge(const CompositeParams& params) {
    checkUnitInterval("--threshold", params.threshold);
    checkUnitInterval("--softness", params.softness);
}

void addCompositeOptions(CLI::App* app, CompositeOptions& options, const std::string& videoNote) {
    app->add_option("--background", options.background,
                    "blur, blur:N (1 to 100), color:#rrggbb, image:PATH, video:PATH" + videoNote + " or transparent")
        ->capture_default_str()
        ->type_name("WHAT");
    addChoice(app, "--placement", "How image:PATH is laid in: fill, fit or stretch",
              options.params.background.placement,
              {{"fill", Placement::fill}, {"fit", Placement::fit}, {"stretch", Placement::stretch}});
    app->add_option("--position", options.params.background.position,
                    "Where it lies if it is wider or taller than the photo, 0 (left or top) to 1")
        ->capture_default_str()
        ->type_name("P");
    addEdgeOptions(app, options.params);
    app->add_flag_callback(
        "--no-decontaminate", [&options] { options.params.decontaminate = false; },
        "Leave the old background's colour on the edge");
}

Background checkedBackground(const CompositeOptions& options) {
    checkEdge(options.params);
    checkUnitInterval("--position", options.params.background.position);
    return parseBackground(options.background);
}

CompositeParams readParams(const CompositeOptions& options,
                           const Background& background,
                           bool isNeeded,
                           const std::stop_token& stop) {
    CompositeParams params = options.params;
    params.background = background;
    params.background.placement = options.params.background.placement;
    params.background.position = options.params.background.position;
    if (background.kind == Background::Kind::image && isNeeded) readBackground(params.background, stop);
    return params;
}

}  // namespace matte
