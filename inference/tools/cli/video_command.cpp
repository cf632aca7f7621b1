// SPDX-License-Identifier: Apache-2.0
#include "inference/backends/create_engine.h"
#include "inference/tools/cli/commands.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <utility>

#include <nlohmann/json.hpp>

#include "inference/core/stopwatch.h"
#include "inference/media/video/video_writer.h"
#include "inference/model/default_model.h"
#include "inference/model/read_model.h"
#include "inference/pipeline/video_export.h"
#include "inference/tools/cli/picture_list.h"
#include "inference/tools/cli/progress_bar.h"

namespace matte {
namespace {

namespace fs = std::filesystem;

const char* const kFooter =
    R"(OUT's extension says what is written: mp4, m4v, mov and mkv hold H.264, webm holds VP9. With --background
transparent it is webm (VP9) or mov (ProRes 4444). Every frame keeps its time, and the video's sound goes along as
it is where the form can hold it. OUT appears only when it is finished. When anything of IN or of the background
is missing or damaged, a frame got no matte, or another encoder had to be taken, one message says so and the exit
code is 3.
)";

nlohmann::ordered_json countsOf(const Loss& loss) {
    return {{"frames", loss.frames},
            {"ofFrames", loss.ofFrames},
            {"damagedFrames", loss.damagedFrames},
            {"soundPackets", loss.soundPackets},
            {"unwrittenSoundPackets", loss.soundUnwritten},
            {"readErrors", loss.readErrors},
            {"endsEarly", loss.endsEarly},
            {"noSound", !loss.soundProblem.empty()},
            {"otherEncoder", !loss.encoderProblem.empty()}};
}

void report(const VideoOptions& options, const VideoExportResult& result, const EngineInfo& engine, double took) {
    if (options.json) {
        const nlohmann::ordered_json document{
            {"version", MATTE_VERSION},      {"engine", engine.name},
            {"input", options.input},        {"output", options.output},
            {"codec", result.codec},         {"width", result.size.width},
            {"height", result.size.height},  {"frames", result.frames},
            {"seconds", result.seconds},     {"tookSeconds", took},
            {"lost", countsOf(result.loss)}, {"lostOfBackground", countsOf(result.backgroundLoss)},
            {"problem", result.problem}};
        // File names need not be UTF-8, and JSON must be.
        std::puts(document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    } else if (!options.quiet) {
        std::printf("Engine: %s\n%s\n  %dx%d, %s, %llu frames of %.1f s in %.1f s (%.1f a second)\n",
                    printable(engine.name).c_str(), printable(options.input + " -> " + options.output).c_str(),
                    result.size.width, result.size.height, result.codec.c_str(), (unsigned long long)(result.frames),
                    result.seconds, took, double(result.frames) / std::max(took, 1e-3));
    }
    if (!result.isWhole()) printMessage(result.problem);
}

}  // namespace

CLI::App* addVideoCommand(CLI::App& app, VideoOptions& options) {
    CLI::App* video = app.add_subcommand("video", "Replace what is behind the people in a video");
    video->footer(kFooter);
    video->add_option("IN", options.input, "A video")->required();
    video->add_option("-o,--output", options.output, "The video to write: mp4, m4v, mov, mkv or webm")
        ->required()
        ->type_name("OUT");
    addCompositeOptions(video, options.composite, "");
    addSmoothingOption(video, options.composite.params, "How steady the matte is kept, 0 to 1");
    video->add_flag("--nearest", options.composite.params.nearestOnly,
                    "Of several people, keep only the one who takes the most room");
    addModelOption(video, options.model);
    addEngineChoices(video, options.engine);
    video->add_option("--size", options.engine.networkLongestSide, "Longest side of the network's input, in pixels")
        ->check(CLI::Range(32, 2048).description(""))
        ->type_name("N");
    video->add_flag("--matte-only", options.matteOnly,
                    "Write the matte as a grey video instead, without sound (white is the person)");
    video->add_flag("--json", options.json, "Print what was done as one JSON object");
    video->add_flag("--quiet", options.quiet, "Print nothing but errors");
    return video;
}

ExitCode runVideoCommand(const VideoOptions& options, std::stop_token stop) {
    const Background background = checkedBackground(options.composite);
    checkUnitInterval("--temporal-smoothing", options.composite.params.temporalSmoothing);
    VideoExport job{options.input, options.output, {}, options.matteOnly};
    job.alsoRead = modelFiles(options.model);
    // Before the model is loaded.
    checkVideoTarget(job.output, background.kind == Background::Kind::transparent && !options.matteOnly);
    job.params = readParams(options.composite, background, !options.matteOnly, stop);
    job.params.fineDetail = true;  // there is time for it
    LiveEngines engines = createLiveEngines(loadNetwork(options.model), options.engine);
    for (const auto& warning : engines.first->info().warnings) printMessage(warning);

    constexpr int kSteps = 1000;
    ProgressBar bar(kSteps, !options.quiet);
    const Stopwatch watch;
    const auto progress = [&](std::uint64_t done, double of) {
        if (done % 8 != 1) return;
        const double share = of > 0 ? std::min(1.0, double(done) / of) : 0;
        const double left = share > 0 ? watch.ms() / 1e3 * (1 - share) / share : 0;
        bar.show(int(share * kSteps), "frame " + std::to_string(done) +
                                          (share > 0 ? ", " + std::to_string(int(std::lround(left))) + " s left" : ""));
    };
    const VideoExportResult result = exportVideo(std::move(engines), job, progress, std::move(stop));
    bar.clear();
    report(options, result, result.engine, watch.ms() / 1e3);
    return result.isWhole() ? kExitOk : kExitInput;
}

}  // namespace matte
