// SPDX-License-Identifier: Apache-2.0
#include "inference/tools/cli/options.h"

#include "inference/media/background_file.h"

namespace matte {

void checkUnitInterval(const char* option, float value) {
    if (!(value >= 0 && value <= 1)) {
        throw Error(Area::usage, std::string(option) + " must be between 0 and 1: try 0.5.");
    }
}

void addEngineChoices(CLI::App* app, EngineOptions& engine) {
    addChoice(app, "--engine", "What computes: auto, cpu or cuda", engine.kind,
              {{"auto", EngineKind::automatic}, {"cpu", EngineKind::cpu}, {"cuda", EngineKind::cuda}});
    app->add_option("--device", engine.device, "CUDA: the GPU with this number in matte-cli info; else the fastest")
        ->check(CLI::Range(0, 1023).description(""))
        ->type_name("N");
    addChoice(app, "--precision", "fast, or fp32: every value in single precision, for comparing", engine.precision,
              {{"fast", Precision::fast}, {"fp32", Precision::fp32}});
}

void addEdgeOptions(CLI::App* app, Look& look) {
    app->add_option("--threshold", look.threshold, "Where the edge lies, 0 to 1; lower keeps more")
        ->capture_default_str()
        ->type_name("T");
    app->add_option("--softness", look.softness, "How soft the edge is, 0 to 1; 1 leaves it as it was found")
        ->capture_default_str()
        ->type_name("S");
}

void checkEdge(const Look& look) {
    checkUnitInterval("--threshold", look.threshold);
    checkUnitInterval("--softness", look.softness);
}

void addLookOptions(CLI::App* app, LookOptions& options, const std::string& videoNote) {
    app->add_option("--background", options.background,
                    "blur, blur:N (1 to 100), color:#rrggbb, image:PATH, video:PATH" + videoNote + " or transparent")
        ->capture_default_str()
        ->type_name("WHAT");
    addChoice(app, "--placement", "How image:PATH is laid in: fill, fit or stretch", options.look.background.placement,
              {{"fill", Placement::fill}, {"fit", Placement::fit}, {"stretch", Placement::stretch}});
    app->add_option("--position", options.look.background.position,
                    "Where it lies if it is wider or taller than the photo, 0 (left or top) to 1")
        ->capture_default_str()
        ->type_name("P");
    addEdgeOptions(app, options.look);
    app->add_flag_callback(
        "--no-decontaminate", [&options] { options.look.decontaminate = false; },
        "Leave the old background's colour on the edge");
}

Background checkedBackground(const LookOptions& options) {
    checkEdge(options.look);
    checkUnitInterval("--position", options.look.background.position);
    return parseBackground(options.background);
}

Look readLook(const LookOptions& options, const Background& background, bool isNeeded, const std::stop_token& stop) {
    Look look = options.look;
    look.background = background;
    look.background.placement = options.look.background.placement;
    look.background.position = options.look.background.position;
    if (background.kind == Background::Kind::image && isNeeded) readBackground(look.background, stop);
    return look;
}

}  // namespace matte
