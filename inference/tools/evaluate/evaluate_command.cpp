// SPDX-License-Identifier: Apache-2.0
#include "inference/backends/create_engine.h"
#include "inference/tools/cli/commands.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>

#include <CLI/CLI.hpp>

#include "inference/media/frame_source.h"
#include "inference/media/image/image_file.h"
#include "inference/media/synthetic/test_source.h"
#include "inference/model/default_model.h"
#include "inference/model/read_model.h"
#include "inference/tools/cli/options.h"
#include "inference/tools/cli/progress_bar.h"
#include "inference/tools/evaluate/evaluate_report.h"
#include "inference/tools/evaluate/matte_pairs.h"

namespace matte {
namespace {

namespace fs = std::filesystem;

constexpr double kTestRate = 30;  ///< frames a second of the synthetic person

const char* const kFooter =
    R"(The mattes are those that other commands and the window make, in the photo's own size, with the same refinement,
threshold, softness and temporal smoothing.
Layout: the true matte of NAME.jpg is NAME.png or NAME-matte.png beside it, grey, as large as the photo, white for
the person; that of NAME.png is NAME-matte.png. Folders below DIR are searched too and get lines of their own.

Columns: mean IoU of person and background, IoU of the person, mean absolute and squared difference, gradient and
connectivity error (Rhemann et al. 2009, thousands of pixels), F-score of the outline within 2 pixels, share of
pixels with an alpha of .05 to .95, the same away from the true outline, mean IoU of the worst tenth.
Where true mattes are soft, a second table has the errors in their unknown bands: the sum of absolute differences,
mean squared difference, gradient and connectivity error, and the gradient error of the part where hair is (sums in
thousands of pixels). A matte is soft when over 1 % of its pixels are between .02 and .98. The band is these pixels
and what lies within a hundredth of the photo's longest side of them, at least 2 pixels. Hair is in its rows down to
that in which a third of the person's area has been passed.

With --sequence the pictures of each folder, in the order of their names, are the frames of one sequence, with or
without mattes; a video is one, without; test:person[:WxH] is one, with. Beside NNNN.jpg, NNNN.limb.png may label
arms, hands and legs of the person, and NNNN.thing.png things that are nobody's, in white. Its line: flicker where
nothing moves; dtSSD against the true mattes; the mean error of alpha where the true one moved, to be held against
that with --temporal-smoothing 0; the share of the frame that is found to be somebody beside the largest person;
switches, the area that turns from person to background and back within a second, or the reverse, in shares of the
frame by second, and those that the true mattes show to be wrong all the while; the share of the limbs' pixels that
is lost, and of the frames in which less than 5 % of them is; the share of the things' pixels that is shown, and of
the frames in which more than 2 % of them is.
)";

/// One photo, or one sequence: a folder's frames, or those of a video or of the synthetic person.
struct Work {
    fs::path folder;  ///< what the report calls it by
    MattePair photo;
    std::vector<MattePair> frames;
    std::optional<SourceSpec> source;
};

/// "" for the folder itself.
std::string nameBelow(const fs::path& path, const fs::path& folder) {
    const fs::path below = path.lexically_relative(folder);
    return below == "." ? folder.filename().string() : below.string();
}

class Evaluation {
public:
    Evaluation(const EvaluateOptions& options, std::stop_token stop)
        : options_(options),
          stop_(std::move(stop)),
          model_(findModel(options.model)),
          params_(options.params),
          bandOf_(options.everyBand ? BandOf::everyMatte : BandOf::softMattes),
          report_(options.json, model_) {
        params_.background.kind = Background::Kind::transparent;
        checkEdge(params_);
        checkUnitInterval("--temporal-smoothing", params_.temporalSmoothing);
        if (!(options.frameRate >= 1 && options.frameRate <= 1000)) {  // CLI11's own check lets a NaN through
            throw Error(ErrorCategory::usage, "--frame-rate must be between 1 and 1000: try 30.");
        }
        for (const std::string& input : options.inputs) find(input);
        if (work_.empty()) {
            throw Error(ErrorCategory::input, options.sequence
                                                  ? "There is no frame: name a folder of frames or a video."
                                                  : "There is no photo with a matte beside it: see matte-cli "
                                                    "evaluate --help for the layout.");
        }
    }

    ExitCode run() {
        const std::vector<int> sizes = options_.sizes.empty() ? std::vector<int>{0} : options_.sizes;
        ProgressBar progress(int(sizes.size() * work_.size()), !options_.quiet);
        int done = 0;
        for (const int size : sizes) {
            EngineOptions engineOptions;
            engineOptions.kind = options_.engine;
            engineOptions.networkLongestSide = size;
            UNet network = loadNetwork(options_.model);
            if (options_.sequence) {
                frames_.emplace(createLiveEngines(std::move(network), engineOptions));
                report_.beginSize(size, frames_->info());
            } else {
                photos_ = createPhotoEngine(std::move(network), engineOptions);
                report_.beginSize(size, photos_->info());
            }
            for (const Work& work : work_) {
                const fs::path& name = options_.sequence ? work.folder : work.photo.photo;
                progress.show(done++, name.filename().string());
                evaluate(work, name, progress);
            }
            progress.clear();
            report_.endSize();
        }
        report_.finish(code_);
        return code_;
    }

private:
    void find(const fs::path& named) {
        const fs::path input = named.has_filename() ? named : named.parent_path();  // without a slash at its end
        std::error_code error;
        if (options_.sequence && input.string().starts_with("test:")) {
            work_.push_back({input, {}, {}, parseSource(input.string())});
            return;
        }
        if (options_.sequence && !fs::is_directory(input, error)) {
            work_.push_back({input, {}, {}, SourceSpec{SourceSpec::Kind::file, input.string(), {}, 0}});
            return;
        }
        const auto first = std::ptrdiff_t(work_.size());
        for (MattePair& pair : findMattePairs(input)) {
            const fs::path folder = nameBelow(pair.photo.parent_path(), input);
            if (!options_.sequence) {
                if (!pair.matte.empty()) work_.push_back({folder, std::move(pair), {}, {}});
                continue;
            }
            // By the folder itself: two that were given may have one name, and a folder's frames need not come in a
            // row.
            auto sequence = std::find_if(work_.begin() + first, work_.end(), [&](const Work& other) {
                return other.frames.front().photo.parent_path() == pair.photo.parent_path();
            });
            if (sequence == work_.end()) sequence = work_.insert(work_.end(), Work{folder, {}, {}, {}});
            sequence->frames.push_back(std::move(pair));
        }
    }

    void evaluate(const Work& work, const fs::path& name, ProgressBar& progress) {
        try {
            if (options_.sequence) {
                sequence(work);
            } else {
                photo(work);
            }
        } catch (const Error& error) {
            if (error.category != ErrorCategory::input && error.category != ErrorCategory::source) throw;
            progress.clear();
            printMessage(error.what());
            report_.failed(name, error.what());
            if (code_ == kExitOk) code_ = exitCodeOf(error.category);
        }
    }

    void photo(const Work& work) {
        const auto picture = readImage(work.photo.photo, stop_);
        const Planes truth = readMatte(work.photo.matte, picture->size(), stop_);
        const auto cutout = photos_->cutOut(picture, stop_);
        const Planes alpha = planeOf(photos_->matte(*cutout, params_, picture->size(), stop_), 0);
        report_.photo(work.folder.string(), work.photo.photo, scoreMatte(alpha, truth, bandOf_));
    }

    /// What is known of a frame's pixels.
    struct Known {
        std::optional<Planes> truth, limbs, things;
    };

    /// Calls `see` with every frame and what is known of it. Frame::captured is in the time of the sequence.
    void eachFrame(const Work& work, const std::function<void(const Frame&, const Known&)>& see) {
        const auto timeOf = [](std::uint64_t number, double rate) {
            return Clock::time_point(std::chrono::round<Clock::duration>(Seconds(double(number) / rate)));
        };
        if (!work.source) {
            Frame frame;
            for (const MattePair& pair : work.frames) {
                frame.image = readImage(pair.photo, stop_);
                frame.captured = timeOf(frame.number, options_.frameRate);
                const auto read = [&](const fs::path& path) {
                    return path.empty() ? std::nullopt : std::optional(readMatte(path, frame.image->size(), stop_));
                };
                see(frame, {read(pair.matte), read(pair.limbs), read(pair.things)});
                ++frame.number;
            }
            return;
        }
        const CaptureSettings settings{.paced = false};
        if (work.source->kind == SourceSpec::Kind::test) {
            TestSource person(work.source->size, kUnthrottled, settings);
            for (int left = 2 * loopFrames(work.source->size); left > 0; --left) {  // it repeats itself
                auto frame = person.read(stop_);
                if (!frame) return;
                frame->captured = timeOf(frame->number, kTestRate);
                see(*frame, {planeOf(person.alpha(frame->number), 0), {}, {}});
            }
            return;
        }
        const auto source = openSource(*work.source, settings);
        while (const auto frame = source->read(stop_)) see(*frame, {});
        if (const Loss loss = source->loss(); loss.any()) {
            printMessage(loss.sentence(work.folder.filename().string()) + " The scores are those of the others.");
            if (code_ == kExitOk) code_ = kExitInput;
        }
    }

    /// As live pictures: one after the other, each remembering those before.
    void sequence(const Work& work) {
        SequenceMeter meter(bandOf_);
        frames_->reset();
        eachFrame(work, [&](const Frame& frame, const Known& known) {
            stopIfAsked(stop_);
            frames_->submit(frame, params_, {});
            const auto shown = frames_->take().output.picture->image();
            const auto given = [](const std::optional<Planes>& planes) { return planes ? &*planes : nullptr; };
            meter.add({lumaPlane(frame.image->view()), planeOf(*shown, 3), given(known.truth), given(known.limbs),
                       given(known.things), Seconds(frame.captured.time_since_epoch()).count()});
        });
        stopIfAsked(stop_);
        SequenceScores scores = meter.scores();
        scores.name = work.folder.string();
        if (scores.frames == 0) throw Error(ErrorCategory::input, scores.name + " has no frames: name another video.");
        report_.sequence(scores);
    }

    using Clock = std::chrono::steady_clock;
    using Seconds = std::chrono::duration<double>;

    const EvaluateOptions& options_;
    std::stop_token stop_;
    fs::path model_;
    CompositeParams params_;
    BandOf bandOf_;
    std::vector<Work> work_;
    struct Nothing {};
    std::unique_ptr<PhotoEngine> photos_;  ///< one of the two
    std::optional<LiveQueue<Nothing>> frames_;
    EvaluateReport report_;
    ExitCode code_ = kExitOk;
};

}  // namespace

CLI::App* addEvaluateCommand(CLI::App& app, EvaluateOptions& options) {
    CLI::App* evaluate =
        app.add_subcommand("evaluate", "Score a model's mattes against true ones, and how steady they are");
    evaluate->footer(kFooter);
    evaluate
        ->add_option("DIR", options.inputs,
                     "Folders of photos with mattes; with --sequence, of frames, or videos, or test:person")
        ->required();
    evaluate->add_flag("--sequence", options.sequence, "What is named are sequences, run as live pictures are");
    evaluate
        ->add_option("--size", options.sizes,
                     "Longest sides of the network's input, separated by commas; without it the model's own, and "
                     "people far away in photos get a second pass")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::Range(32, 2048).description(""))
        ->type_name("N,N…");
    evaluate->add_option("--frame-rate", options.frameRate, "Sequences: frames a second of folders, 30 without it")
        ->type_name("N");
    evaluate->add_flag("--unknown-band", options.everyBand,
                       "Score the unknown bands of all mattes, not of soft ones alone");
    addModelOption(evaluate, options.model);
    addEngineOption(evaluate, options.engine);
    addEdgeOptions(evaluate, options.params);
    addSmoothingOption(evaluate, options.params, "Sequences: how steady live mattes are kept, 0 to 1");
    evaluate->add_flag("--json", options.json, "Print one JSON object, with every photo's scores");
    evaluate->add_flag("--quiet", options.quiet, "Show no progress");
    return evaluate;
}

ExitCode runEvaluateCommand(const EvaluateOptions& options, std::stop_token stop) {
    return Evaluation(options, std::move(stop)).run();
}

}  // namespace matte
