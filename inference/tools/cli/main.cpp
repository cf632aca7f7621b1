// SPDX-License-Identifier: Apache-2.0
// matte-cli: Matte without a window. Reads the command line, runs one command, and turns what went wrong into a
// sentence and an exit code.
#include <csignal>
#include <cstdio>
#include <ctime>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <thread>

#include <unistd.h>

#include <CLI/CLI.hpp>

#include "inference/core/process.h"
#include "inference/core/thread.h"
#include "inference/tools/cli/commands.h"

namespace matte {
namespace {

const char* const kFooter =
    R"(OUT is a file when its extension is png, jpg, jpeg, webp, tif, tiff or bmp, which takes one picture. Otherwise it
is a folder, created when missing, for results named NAME-cutout.png (or NAME-matte.png). No file that is read
is ever written over, and a result appears only when it is whole.

Exit codes:
  0    everything is done
  1    something unexpected happened
  2    the command line makes no sense
  3    a picture or a video can't be read, or the result is not quite what was asked for
  4    a camera or an address can't be had
  5    the model can't be used
  6    the engine asked for can't be used
  7    a result can't be written
  130  interrupted
With several pictures, one that fails doesn't stop the others, and the code is the first failure's.
)";

/// Ctrl-C, SIGTERM and a terminal that is closed ask the work to stop at the next good point; the second time, the
/// program ends at once. The signals are blocked in every thread and waited for in one, where anything may be called.
class InterruptWatcher {
public:
    explicit InterruptWatcher(std::stop_source work) {
        sigemptyset(&signals_);
        for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
            struct sigaction action {};
            // A shell that starts a program in the background makes it ignore Ctrl-C: it stays so.
            if (::sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) {
                sigaddset(&signals_, number);
            }
        }
        pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
        thread_ = startThread(
            "this program", ErrorCategory::engine, [this, work](const std::stop_token& stop) { watch(work, stop); },
            untold);
    }

private:
    void watch(std::stop_source work, const std::stop_token& stop) const {
        const timespec tick{0, 50'000'000};
        while (!stop.stop_requested()) {
            if (::sigtimedwait(&signals_, nullptr, &tick) <= 0) continue;
            if (work.stop_requested()) ::_exit(kExitInterrupted);
            work.request_stop();
        }
    }

    sigset_t signals_;
    std::jthread thread_;
};

void addImageCommand(CLI::App& app, ImageOptions& options) {
    CLI::App* image = app.add_subcommand("image", "Cut the people out of photos and lay them over a new background");
    image->footer(kFooter);
    image->add_option("IN", options.inputs, "Pictures, folders of pictures, or quoted patterns such as 'shots/*.jpg'")
        ->required();
    image->add_option("-o,--output", options.output, "A file for one picture, else a folder")
        ->required()
        ->type_name("OUT");
    addCompositeOptions(image, options.composite, " (its first frame)");
    addModelOption(image, options.model);
    addEngineChoices(image, options.engine);
    image
        ->add_option("--implementation", options.implementation,
                     "Run the network by this implementation of matte-cli lab instead")
        ->type_name("NAME");
    image->add_option("--method", options.implementation)->group("");  // formerly
    image
        ->add_option("--size", options.engine.networkLongestSide,
                     "Longest side of the network's input, in pixels; then people far away get no second pass")
        ->check(CLI::Range(32, 2048).description(""))
        ->type_name("N");
    image->add_flag_callback(
        "--no-tune", [&options] { options.engine.tune = false; },
        "CUDA: take each layer's default kernel instead of the one measured to be fastest");
    image->add_flag("--matte-only", options.matteOnly,
                    "Write the matte as a grey picture instead (white is the person)");
    image->add_flag("--json", options.json, "Print what was done as one JSON object");
    image->add_flag("--quiet", options.quiet, "Print nothing but errors");
}

/// The first of the arguments that no option has taken, or of whose letters one was left; empty when each has its
/// meaning. CLI11 would rather say what is missing, or help because there is an h in it.
std::string unknownOption(const CLI::App& app, int argc, char** argv) {
    for (const std::string& left : app.remaining(true)) {
        if (left.size() < 2 || left[0] != '-') continue;
        for (int i = 1; i < argc; ++i) {
            const std::string_view argument = argv[i];
            if (argument.starts_with('-') && argument.ends_with(left.substr(1))) return argv[i];
        }
        return left;
    }
    return {};
}

ExitCode runCommandLine(int argc, char** argv, std::stop_token stop) {
    CLI::App app("Replaces what is behind a person in photos and videos.", "matte-cli");
    app.set_version_flag("--version", std::string("matte-cli ") + MATTE_VERSION);
    app.require_subcommand(1);
    app.footer("matte-cli COMMAND --help tells more.\n\n" + std::string(kFooter));
    ImageOptions options;
    addImageCommand(app, options);
    CLI::App* info = app.add_subcommand("info", "What this program can do on this machine, and why not more");
    bool infoJson = false;
    info->add_flag("--json", infoJson, "Print it as one JSON object");
    std::string answering;
    info->add_option("--answer", answering,
                     "Print instead what this model's file is to hold as known_answer (see resources/README.md)")
        ->type_name("MODEL");
    EvaluateOptions evaluateOptions;
    const CLI::App* evaluate = addEvaluateCommand(app, evaluateOptions);
    VideoOptions videoOptions;
    const CLI::App* video = addVideoCommand(app, videoOptions);
    BenchOptions benchOptions;
    CLI::App* bench = addBenchCommand(app, benchOptions);
    addEngineChoices(bench, benchOptions.engine);
    LabCommandOptions labOptions;
    const CLI::App* lab = addLabCommand(app, labOptions);

    if (argc < 2) {
        std::fputs(app.help().c_str(), stderr);
        return kExitUsage;
    }
    // CLI11 would say that a command is required.
    const auto commands = app.get_subcommands([&](const CLI::App* command) { return command->get_name() == argv[1]; });
    if (argv[1][0] != '-' && commands.empty()) {
        throw Error(ErrorCategory::usage, "There is no command '" + std::string(argv[1]) + "': see matte-cli --help.");
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (const std::string option = unknownOption(app, argc, argv); !option.empty()) {
            throw Error(ErrorCategory::usage, "There is no option '" + option + "': see matte-cli --help.");
        }
        if (error.get_exit_code() == int(CLI::ExitCodes::Success)) {
            app.exit(error);  // --help and --version
            return kExitOk;
        }
        throw Error(ErrorCategory::usage, std::string(error.what()) + ": see matte-cli --help.");
    }
    if (info->parsed()) return answering.empty() ? runInfoCommand(infoJson) : printKnownAnswer(answering);
    if (bench->parsed()) return runBenchCommand(benchOptions, stop);
    if (evaluate->parsed()) return runEvaluateCommand(evaluateOptions, stop);
    if (video->parsed()) return runVideoCommand(videoOptions, stop);
    if (lab->parsed()) return runLabCommand(labOptions, stop);
    return runImageCommand(options, stop);
}

}  // namespace
}  // namespace matte

int main(int argc, char** argv) {
    using namespace matte;
    prepareProcess("matte-cli");
    try {
        const std::stop_source work;
        const InterruptWatcher watcher(work);
        const ExitCode code = runCommandLine(argc, argv, work.get_token());
        if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return code;
        throw Error(ErrorCategory::output, "What there is to say can't be printed: free some space where it goes.");
    } catch (const Error& error) {
        printMessage(error.what());
        return exitCodeOf(error.category);
    } catch (const Cancelled&) {
        printMessage("Interrupted: what was finished is whole, and the rest is not there.");
        return kExitInterrupted;
    } catch (const std::bad_alloc&) {
        std::fputs("matte-cli: There is not enough memory: close other programs or scale the picture down.\n", stderr);
    } catch (const std::exception& error) {
        printMessage(std::string("Something unexpected happened (") + error.what() + "): please report it.");
    }
    return kExitUnexpected;
}
