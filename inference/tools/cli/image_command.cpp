// SPDX-License-Identifier: Apache-2.0
#include "inference/backends/create_engine.h"
#include "inference/tools/cli/commands.h"

#include <cmath>
#include <cstdio>
#include <new>

#include <nlohmann/json.hpp>

#include "inference/baselines/live/baseline_network.h"
#include "inference/core/error.h"
#include "inference/core/stopwatch.h"
#include "inference/media/image/image_file.h"
#include "inference/model/default_model.h"
#include "inference/model/read_model.h"
#include "inference/tools/cli/picture_list.h"
#include "inference/tools/cli/progress_bar.h"

namespace matte {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// Before any picture is looked for.
void checkImplementation(const ImageOptions& options) {
    if (options.implementation.empty()) return;
    if (options.engine.kind != EngineKind::automatic || options.engine.precision != Precision::fast) {
        throw Error(ErrorCategory::usage,
                    "--implementation says what computes, and how exactly: leave --engine and --precision out.");
    }
    baselines::networkImplementationNamed(options.implementation);
}

/// What the whole run shares.
struct Session {
    fs::path model;
    std::string implementation;
    CompositeParams params;
    std::unique_ptr<PhotoEngine> engine;
    double loadMs = 0;
};

/// Nothing takes over from an implementation that was asked for by name.
std::unique_ptr<PhotoEngine> openEngine(const ImageOptions& options) {
    const Safetensors file = readModel(options.model);
    if (options.implementation.empty()) return createPhotoEngine(UNet::load(file), options.engine);
    return baselines::makeBaselineEngine(baselines::networkImplementationNamed(options.implementation),
                                         std::make_shared<const baselines::Model>(baselines::Model::load(file)),
                                         options.engine);
}

Session openSession(const ImageOptions& options, const Background& background, const std::stop_token& stop) {
    const Stopwatch watch;
    Session session;
    session.model = findModel(options.model);
    // Of a video behind, the first frame.
    session.params = readParams(options.composite, background, !options.matteOnly, stop);
    session.implementation = options.implementation;
    session.engine = openEngine(options);
    session.loadMs = watch.ms();
    return session;
}

void createFolderOf(const fs::path& file) {
    std::error_code error;
    if (file.has_parent_path()) fs::create_directories(file.parent_path(), error);
    if (error) {
        throw Error(ErrorCategory::output, "The folder " + file.parent_path().string() + " can't be created (" +
                                               error.message() + "): choose another one with -o.");
    }
}

/// Read, cut out, composite, write. `step` is called with each one's number and name before it begins.
constexpr int kSteps = 4;

template <typename Step>
StageTimes processPicture(const Session& session,
                          const PicturePair& pair,
                          bool matteOnly,
                          Size& size,
                          const std::stop_token& stop,
                          Step step) {
    const auto begin = [&](int number, const char* name) {
        stopIfAsked(stop);
        step(number, name);
        return Stopwatch();
    };
    const Stopwatch whole;
    StageTimes times;
    auto watch = begin(0, "reading");
    const auto picture = readImage(pair.input, stop);
    size = picture->size();
    times.push_back({Stage::decode, watch.ms()});

    begin(1, "cutting out");
    const auto cutout = session.engine->cutOut(picture, stop);
    times.insert(times.end(), cutout->times().begin(), cutout->times().end());

    watch = begin(2, "compositing");
    std::shared_ptr<const Image> result;
    if (matteOnly) {
        result = std::make_shared<const Image>(session.engine->matte(*cutout, session.params, size, stop));
        times.push_back({Stage::matte, watch.ms()});
    } else {
        const Output output = session.engine->composite(*cutout, session.params, size, stop);
        times.insert(times.end(), output.times.begin(), output.times.end());
        watch = begin(2, "fetching");
        result = output.picture->image();
        if (output.picture->device()) times.push_back({Stage::download, watch.ms()});
    }

    watch = begin(3, "writing");
    createFolderOf(pair.output);
    writeImage(pair.output, result->view());
    times.push_back({Stage::encode, watch.ms()});
    times.push_back({Stage::total, whole.ms()});
    return times;
}

double rounded(double ms) {
    return std::round(ms * 100) / 100;
}

const char* kindName(EngineKind kind) {
    return kind == EngineKind::cuda ? "cuda" : "cpu";
}

Json engineJson(const EngineInfo& info) {
    return {{"kind", kindName(info.kind)}, {"name", info.name}, {"reason", info.reason}, {"warnings", info.warnings}};
}

/// Tells people or machines about the run; both get the same facts.
class Report {
public:
    Report(bool json, bool quiet) : json_(json), quiet_(quiet) {}

    void session(const Session& session) {
        const EngineInfo info = session.engine->info();
        document_["engine"] = engineJson(info);
        document_["method"] = session.implementation.empty() ? Json() : Json(session.implementation);
        document_["model"] = session.model.string();
        document_["loadMs"] = rounded(session.loadMs);
        print("Engine: " + info.name + (info.reason.empty() ? "" : ". " + info.reason));
        for (const auto& warning : info.warnings) printMessage(warning);
    }
    void done(const PicturePair& pair, Size size, const StageTimes& times) {
        Json milliseconds = Json::object();
        std::string line;
        for (const auto& stage : times) {
            milliseconds[stageName(stage.stage)] = rounded(stage.ms);
            char text[64];
            std::snprintf(text, sizeof text, "%s%s %.1f", line.empty() ? "" : ", ", stageName(stage.stage), stage.ms);
            line += text;
        }
        const std::string side = std::to_string(size.width) + "x" + std::to_string(size.height);
        print(pair.input.string() + " -> " + pair.output.string() + " (" + side + ")");
        print("  milliseconds: " + line);
        document_["pictures"].push_back({{"input", pair.input.string()},
                                         {"output", pair.output.string()},
                                         {"width", size.width},
                                         {"height", size.height},
                                         {"ms", milliseconds}});
    }
    void failed(const std::string& input, const Error& error) {
        printMessage(error.what());
        document_["pictures"].push_back({{"input", input}, {"error", error.what()}});
        if (code_ == kExitOk) code_ = exitCodeOf(error.category);
    }
    /// Before all pictures were done.
    ExitCode stopped(ExitCode code) {
        code_ = code;
        return finish();
    }
    /// File names need not be UTF-8, and JSON must be.
    ExitCode finish() {
        document_["exitCode"] = int(code_);
        if (json_) std::puts(document_.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
        return code_;
    }

private:
    void print(const std::string& line) const {
        if (!json_ && !quiet_) std::puts(printable(line).c_str());
        std::fflush(stdout);
    }

    bool json_, quiet_;
    ExitCode code_ = kExitOk;
    Json document_{{"version", MATTE_VERSION}, {"engine", nullptr}, {"method", nullptr},
                   {"model", nullptr},         {"loadMs", nullptr}, {"pictures", Json::array()}};
};

}  // namespace

ExitCode runImageCommand(const ImageOptions& options, std::stop_token stop) {
    checkImplementation(options);
    const Background background = checkedBackground(options.composite);
    const PictureInputs inputs = findPictures(options.inputs);
    std::vector<fs::path> alsoRead = modelFiles(options.model);
    alsoRead.emplace_back(background.imagePath);
    const auto pairs =
        pairWithOutputs(inputs.pictures, options.output, options.matteOnly ? "-matte" : "-cutout", alsoRead);
    Report report(options.json, options.quiet);
    for (const auto& failure : inputs.failures) report.failed(failure.word, failure.error);
    if (pairs.empty()) return report.finish();

    const Session session = openSession(options, background, stop);
    ProgressBar progress(int(pairs.size()) * kSteps, !options.quiet);
    report.session(session);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const auto step = [&](int number, const char* name) {
            const std::string counted = std::to_string(i + 1) + " of " + std::to_string(pairs.size());
            progress.show(int(i) * kSteps + number,
                          counted + ", " + name + " " + printable(pairs[i].input.filename().string()));
        };
        try {
            Size size;
            const auto times = processPicture(session, pairs[i], options.matteOnly, size, stop, step);
            progress.clear();
            report.done(pairs[i], size, times);
        } catch (const Error& error) {
            progress.clear();
            report.failed(pairs[i].input.string(), error);
            if (error.category != ErrorCategory::input && error.category != ErrorCategory::output)
                return report.stopped(exitCodeOf(error.category));
        } catch (const std::bad_alloc&) {
            progress.clear();
            report.failed(pairs[i].input.string(),
                          Error(ErrorCategory::input, "There is not enough memory for " + pairs[i].input.string() +
                                                          ": close other programs or scale the picture down."));
        } catch (const Cancelled&) {
            progress.clear();
            report.stopped(kExitInterrupted);
            throw;
        }
    }
    return report.finish();
}

void printMessage(const std::string& sentence) {
    std::fprintf(stderr, "matte-cli: %s\n", printable(sentence).c_str());
}

}  // namespace matte
