// SPDX-License-Identifier: Apache-2.0
#include "inference/backends/create_engine.h"
#include "inference/tools/cli/commands.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>

#include <CLI/CLI.hpp>

#include "inference/baselines/model.h"
#include "inference/core/atomic_file.h"
#include "inference/core/stopwatch.h"
#include "inference/cuda/device/devices.h"
#include "inference/model/default_model.h"
#include "inference/model/read_model.h"
#include "inference/tools/bench/bench.h"

namespace matte {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kLongEnough = std::chrono::seconds(20);  // for the frames, however many were asked for
constexpr int kWarmUps = 3, kLeastFrames = 3;

Size parseSize(const char* option, const std::string& text) {
    Size size;
    char rest = 0;
    const bool read = std::sscanf(text.c_str(), "%5dx%5d%c", &size.width, &size.height, &rest) == 2;
    if (read && size.width > 0 && size.height > 0 && size.pixels() <= Image::kMaxPixels) return size;
    throw Error(ErrorCategory::usage,
                std::string(option) + " does not understand '" + text + "': use WIDTHxHEIGHT, such as 512x288.");
}

UNet networkOf(const BenchOptions& options, std::string& name) {
    if (options.base > 0) {
        std::vector<int> widths;
        widths.reserve(std::size_t(options.levels));
        for (int level = 0; level < options.levels; ++level) widths.push_back(options.base << level);
        name = "random, base " + std::to_string(options.base) + ", " + std::to_string(options.levels) + " levels";
        return baselines::Model::random(widths, 1).unet;
    }
    const std::filesystem::path path = findModel(options.model);
    name = path.filename().string();
    return loadNetwork(options.model);
}

/// Sides as the network takes them.
Size inputOf(const BenchOptions& options, const UNet& unet, Size frame) {
    if (options.size.empty()) return unet.inputSize(frame, options.engine.networkLongestSide);
    const Size size = parseSize("--size", options.size);
    const int step = 1 << (unet.levels() - 1);
    if (size.width % step == 0 && size.height % step == 0) return size;
    throw Error(ErrorCategory::usage, "--size " + options.size +
                                          " does not fit the network: both sides must be multiples of " +
                                          std::to_string(step) + ".");
}

bool onCuda(const BenchOptions& options) {
    if (options.engine.kind == EngineKind::cpu) return false;
    const std::string unavailable = queryCuda().unavailable;
    if (unavailable.empty()) return true;
    if (options.engine.kind == EngineKind::automatic && options.kernel.empty()) return false;
    throw Error(ErrorCategory::engine, "The CUDA engine can't be used: " + unavailable + " Use --engine cpu or auto.");
}

std::shared_ptr<const Image> randomFrame(Size size) {
    auto image = std::make_shared<Image>(size, PixelFormat::rgba8);
    std::minstd_rand random(1);
    for (std::size_t i = 0; i < image->bytes(); ++i) {
        image->row(0)[i] = i % 4 == 3 ? 255 : std::uint8_t(random() >> 8 & 0xFF);
    }
    return image;
}

/// Adds the stages of one frame after the first `known`.
void add(BenchReport& report, const StageTimes& times, std::size_t known = 0) {
    for (const StageTime& stage : times) {
        const auto isIt = [&](const auto& one) { return one.first == stageName(stage.stage); };
        auto found = std::ranges::find_if(report.stages, isIt);
        if (found == report.stages.end()) {
            report.stages.push_back({stageName(stage.stage), {}});
            found = report.stages.end() - 1;
        }
        if (found - report.stages.begin() >= std::ptrdiff_t(known)) found->second.push_back(stage.ms);
    }
}

void benchFrames(LiveEngine& engine, const BenchOptions& options, BenchReport& report, const std::stop_token& stop) {
    const auto image = randomFrame(report.frame);
    const CompositeParams params;
    std::uint64_t number = 0;
    const auto submit = [&] {
        stopIfAsked(stop);
        engine.submit({image, number++, Clock::now()}, params);
    };
    const auto begin = Clock::now();
    for (int i = -kWarmUps; i < options.frames; ++i) {
        const Stopwatch watch;
        submit();
        const Output output = engine.take();
        if (i < 0) continue;
        report.frameMs.push_back(watch.ms());
        add(report, output.times);
        if (i >= kLeastFrames && Clock::now() - begin > kLongEnough) break;
    }
    const int frames = int(report.frameMs.size());
    // Stages that are only told, and then cost something, when layers are timed.
    const std::size_t known = report.stages.size();
    engine.timeLayers(true);
    for (int i = -kWarmUps; i < frames; ++i) {
        submit();
        const Output output = engine.take();
        if (i >= 0) add(report, output.times, known);
    }
    engine.timeLayers(false);
    // The next frame's upload beside this one's computing.
    for (int i = 0; i < engine.slots(); ++i) submit();
    const Stopwatch watch;
    for (int i = 0; i < frames; ++i) {
        engine.take();
        submit();
    }
    report.framesPerSecond = frames / watch.ms() * 1e3;
    engine.reset();
}

void write(const std::filesystem::path& path, const std::string& json) {
    writeFile(path, {reinterpret_cast<const std::uint8_t*>(json.data()), json.size()});
}

/// Layers are untimed and timed in turns, so that whatever slows the machine down meets both.
OverlayCost measureOverlay(LiveEngine& engine, Size frame, int frames, const std::stop_token& stop) {
    constexpr int kLeastTurns = 3;
    constexpr auto kMost = std::chrono::seconds(60);  // however many frames were asked for
    OverlayCost cost{.frame = frame};
    const auto image = randomFrame(frame);
    std::uint64_t number = 0;
    const auto turn = [&](bool timed) {
        engine.timeLayers(timed);
        const Stopwatch watch;
        for (int i = 0; i < cost.framesATurn; ++i) {
            stopIfAsked(stop);
            engine.submit({image, number++, Clock::now()}, {});
            (void)engine.take();
        }
        return watch.ms() / cost.framesATurn;
    };
    turn(false);  // warm up: memory, clocks, and what is made once
    turn(true);
    const int count = std::max(kLeastTurns, (frames + cost.framesATurn - 1) / cost.framesATurn);
    const auto begin = Clock::now();
    for (int i = 0; i < count && (i < kLeastTurns || Clock::now() - begin < kMost); ++i) {
        const bool onFirst = i % 2 == 1;  // neither always comes second
        if (onFirst) cost.on.push_back(turn(true));
        cost.off.push_back(turn(false));
        if (!onFirst) cost.on.push_back(turn(true));
    }
    cost.engine = engine.info().name;
    return cost;
}

ExitCode runOverlayCost(const BenchOptions& options, const std::stop_token& stop) {
    const Size frame = parseSize("--frame", options.frame);
    std::string name;
    EngineOptions engineOptions = options.engine;
    UNet unet = networkOf(options, name);
    engineOptions.networkLongestSide = inputOf(options, unet, frame).longest();
    const auto engine = createLiveEngines(std::move(unet), engineOptions).first;
    const OverlayCost cost = measureOverlay(*engine, frame, options.frames, stop);
    std::fputs(asText(cost).c_str(), stdout);
    if (!options.json.empty()) write(options.json, asJson(cost));
    return kExitOk;
}

}  // namespace

CLI::App* addBenchCommand(CLI::App& app, BenchOptions& options) {
    CLI::App* bench = app.add_subcommand("bench", "Measure the network, its layers and a whole frame, on random data");
    auto* model = bench->add_option("--model", options.model, "Another model: a .safetensors file, or portrait-lite")
                      ->type_name("MODEL");
    auto* base = bench->add_option("--base", options.base, "Random weights, with so many channels at the first level")
                     ->check(CLI::Range(1, 128).description(""))
                     ->excludes(model)
                     ->type_name("N");
    bench->add_option("--levels", options.levels, "Levels of the random network, each with twice the channels")
        ->check(CLI::Range(3, 6).description(""))
        ->needs(base)
        ->capture_default_str()
        ->type_name("N");
    bench->add_option("--size", options.size, "The network's input; what the model takes for the frame otherwise")
        ->type_name("WxH");
    bench->add_option("--frame", options.frame, "The whole frame")->capture_default_str()->type_name("WxH");
    bench->add_option("--kernel", options.kernel, "CUDA: multiply the network by sm90, mma or fp32")
        ->type_name("WHICH");
    bench->add_option("--frames", options.frames, "So many runs, and frames for at most 20 seconds")
        ->check(CLI::Range(1, 100000).description(""))
        ->capture_default_str()
        ->type_name("N");
    bench->add_flag("--layers", options.layers, "A line for each layer too");
    bench->add_flag("--overlay-cost", options.overlayCost,
                    "Only how much longer a frame takes while each layer is timed, as the window's overlay does");
    bench->add_flag_callback(
        "--no-tune", [&options] { options.engine.tune = false; },
        "CUDA: take each layer's default kernel instead of the one measured to be fastest");
    bench->add_option("--json", options.json, "Write everything into this file too")->type_name("FILE");
    return bench;
}

ExitCode runBenchCommand(const BenchOptions& options, const std::stop_token& stop) {
    if (!options.json.empty()) checkTarget(options.json);
    if (options.base == 0) refuseReplacing(options.json, modelFiles(options.model));
    if (options.overlayCost) return runOverlayCost(options, stop);
    BenchReport report;
    report.frame = parseSize("--frame", options.frame);
    UNet unet = networkOf(options, report.model);
    report.input = inputOf(options, unet, report.frame);
    report.modelFlops = unet.flops(report.input);
    const bool exact = options.engine.precision == Precision::fp32;
    if (onCuda(options)) {
        const std::string kernel = options.kernel.empty() && exact ? "fp32" : options.kernel;
        report.network = benchOnCuda(unet, report.input, kernel, options.engine, options.frames);
    } else {
        report.network = benchOnCpu(unet, report.input, options.engine.precision, options.frames, stop);
    }
    {
        EngineOptions engineOptions = options.engine;
        engineOptions.networkLongestSide = report.input.longest();
        const auto engine = createLiveEngines(std::move(unet), engineOptions).first;
        benchFrames(*engine, options, report, stop);
        report.engine = engine->info();
    }
    std::fputs(asText(report, options.layers).c_str(), stdout);
    if (!options.json.empty()) write(options.json, asJson(report));
    return kExitOk;
}

}  // namespace matte
