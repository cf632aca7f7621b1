// SPDX-License-Identifier: Apache-2.0
#include "gui/app/command_line.h"

#include <QCommandLineParser>
#include <QFileInfo>

#include <cstdio>

#include "inference/core/atomic_file.h"
#include "inference/core/error.h"
#include "inference/core/exit_code.h"
#include "inference/media/image/image_file.h"
#include "inference/model/default_model.h"

namespace matte {
namespace {

void print(std::FILE* to, const QString& text) {
    std::fputs(text.toLocal8Bit().constData(), to);
}

QString absolute(const QString& path) {
    return path.isEmpty() ? path : QFileInfo(path).absoluteFilePath();
}

Background backgroundFrom(const QString& text) {
    Background background = parseBackground(text.toStdString());
    background.imagePath = absolute(QString::fromStdString(background.imagePath)).toStdString();
    return background;
}

EngineKind engineFrom(const QString& text) {
    if (text == "auto") return EngineKind::automatic;
    if (text == "cpu") return EngineKind::cpu;
    if (text == "cuda") return EngineKind::cuda;
    throw Error(ErrorCategory::usage, "'" + text.toStdString() + "' is not an engine: use auto, cpu or cuda.");
}

Precision precisionFrom(const QString& text) {
    if (text == "fast") return Precision::fast;
    if (text == "fp32") return Precision::fp32;
    throw Error(ErrorCategory::usage, "'" + text.toStdString() + "' is not a precision: use fast or fp32.");
}

Size sizeFrom(const QString& text) {
    const QStringList sides = text.split('x');
    bool wideOk = false, highOk = false;
    const Size size{sides.value(0).toInt(&wideOk), sides.value(1).toInt(&highOk)};
    if (sides.size() == 2 && wideOk && highOk && size.width >= 16 && size.height >= 16 && size.longest() <= 8192) {
        return size;
    }
    throw Error(ErrorCategory::usage, "'" + text.toStdString() + "' is not a size: write it as 1280x720.");
}

quint64 framesFrom(const QString& text) {
    bool ok = false;
    const quint64 frames = text.toULongLong(&ok);
    if (ok && frames > 0) return frames;
    throw Error(ErrorCategory::usage, "'" + text.toStdString() + "' is not a number of frames: write 1 or more.");
}

/// The options in the order in which --help shows them.
struct Options {
    QCommandLineOption help{{"h", "help"}, "Show this help."};
    QCommandLineOption version{{"v", "version"}, "Show the version."};
    QCommandLineOption source{
        "source", "Start live: camera, camera:NAME, a video, a folder, an address or test:person[:WxH[@FPS]].",
        "source"};
    QCommandLineOption size{"size", "Ask the camera for this size, or draw the test person at it.", "WxH"};
    QCommandLineOption background{
        "background", "blur, blur:N (1 to 100), color:#rrggbb, image:PATH, video:PATH or transparent.", "background"};
    QCommandLineOption model{"model", "Model file (safetensors), portrait or portrait-lite.", "model"};
    QCommandLineOption engine{"engine", "auto, cpu or cuda.", "engine", "auto"};
    QCommandLineOption precision{"precision", "fast or fp32.", "precision", "fast"};
    QCommandLineOption implementation{
        "implementation", "Run the network by this implementation of matte-cli lab; F3 has a menu of them.", "name"};
    QCommandLineOption method{"method", {}, "name"};  // what `implementation` was called
    QCommandLineOption noTune{"no-tune", "Do not time the GPU's kernels first: runs can be repeated exactly."};
    QCommandLineOption virtualCamera{"virtual-camera", "Show the live picture to other programs, as a camera."};
    QCommandLineOption noInterop{"no-interop", "Upload the pictures even where they could stay on the GPU."};
    QCommandLineOption requireGpu{"require-gpu", "End with code 6 when no GPU does the work."};
    QCommandLineOption frames{"frames", "End after so many frames were shown.", "count"};
    QCommandLineOption stats{"stats", "Write the statistics at the end (JSON, or CSV by the name's end).", "file"};
    QCommandLineOption trace{"trace", "Write a trace for Perfetto at the end.", "file"};
    QCommandLineOption config{"config", "Keep the settings in this file.", "file"};

    [[nodiscard]] QList<QCommandLineOption> all() const {
        return {help,   version,       source,    size,       background, model, engine, precision, implementation,
                noTune, virtualCamera, noInterop, requireGpu, frames,     stats, trace,  config,    method};
    }

    Options() { method.setFlags(QCommandLineOption::HiddenFromHelp); }
};

constexpr char kDescription[] =
    "Matte replaces what is behind a person.\n\n"
    "Exit codes: 0 all is well, 1 something unexpected, 2 wrong option, 3 a file can't be read, 4 the source can't be "
    "had, 5 the model can't "
    "be\n"
    "used, 6 the engine can't be used, 7 a file can't be written, 130 interrupted before --frames were shown.";

std::optional<LiveSource> sourceFrom(const QCommandLineParser& parser, const Options& options, const QString& file) {
    const QString text = parser.isSet(options.source) ? parser.value(options.source) : file;
    if (text.isEmpty()) {
        if (!parser.isSet(options.size)) return {};
        throw Error(ErrorCategory::usage, "--size is about a source: name one with --source.");
    }
    LiveSource source;
    source.spec = parseSource(text.toStdString());
    if (source.spec.kind == SourceSpec::Kind::file) source.spec.name = absolute(text).toStdString();
    if (!parser.isSet(options.size)) return source;
    (source.spec.kind == SourceSpec::Kind::test ? source.spec.size : source.size) =
        sizeFrom(parser.value(options.size));
    return source;
}

/// Nothing that is read, nor another result, is written over.
void refuseLosses(const CommandLine& line) {
    std::vector<std::filesystem::path> read = modelFiles(line.model.toStdString());
    const auto& source = line.automation.source;
    if (source && source->spec.kind == SourceSpec::Kind::file) read.emplace_back(source->spec.name);
    if (line.background) read.emplace_back(line.background->imagePath);
    read.emplace_back(line.photo.toStdString());
    for (const QString& file : {line.config, line.automation.statistics, line.automation.trace}) {
        refuseReplacing(file.toStdString(), read);
        read.emplace_back(file.toStdString());
    }
}

void read(const QCommandLineParser& parser, const Options& options, CommandLine& line) {
    const QStringList files = parser.positionalArguments();
    if (files.size() > 1) {
        throw Error(ErrorCategory::usage, "The window opens one file at a time: matte-cli image takes many photos.");
    }
    const bool isPhoto = !files.isEmpty() && hasImageExtension(files.first().toStdString());
    if (isPhoto && parser.isSet(options.source)) {
        throw Error(ErrorCategory::usage, "A photo and a live source can't be had at once: leave one of them out.");
    }
    if (isPhoto) line.photo = absolute(files.first());
    line.automation.source = sourceFrom(parser, options, isPhoto ? QString() : files.value(0));
    line.model = parser.value(options.model);
    line.config = absolute(parser.value(options.config));
    line.engine.kind = engineFrom(parser.value(options.engine));
    line.engine.precision = precisionFrom(parser.value(options.precision));
    const QCommandLineOption& chosen = parser.isSet(options.method) ? options.method : options.implementation;
    if (parser.isSet(chosen)) {
        line.implementation = &baselines::networkImplementationNamed(parser.value(chosen).toStdString());
    }
    line.engine.tune = !parser.isSet(options.noTune);
    line.virtualCamera = parser.isSet(options.virtualCamera);
    line.interop = !parser.isSet(options.noInterop);
    line.automation.requireGpu = parser.isSet(options.requireGpu);
    if (parser.isSet(options.frames)) line.automation.frames = framesFrom(parser.value(options.frames));
    line.automation.statistics = absolute(parser.value(options.stats));
    line.automation.trace = absolute(parser.value(options.trace));
    if (parser.isSet(options.background)) line.background = backgroundFrom(parser.value(options.background));
    line.automation.background = line.background.has_value();
    const bool wantsLive =
        line.automation.frames > 0 || !line.automation.statistics.isEmpty() || !line.automation.trace.isEmpty();
    if (wantsLive && !line.automation.source) {
        throw Error(ErrorCategory::usage,
                    "--frames, --stats and --trace are about a live source: name one with --source.");
    }
    for (const QString& file : {line.automation.statistics, line.automation.trace}) {
        if (!file.isEmpty()) checkTarget(file.toStdString());
    }
    refuseLosses(line);
}

/// Takes Qt's own options out of `arguments` and returns them: of its many those that a desktop gives a program, which
/// it starts with -session when it restores it, and by which a person says on which screen. None of the others is
/// known.
QStringList takeQtOptions(QStringList& arguments) {
    static const QStringList withValue{"session", "platform", "display", "geometry", "qwindowgeometry"};
    QStringList taken, left;
    for (qsizetype i = 0; i < arguments.size(); ++i) {
        QString name = arguments[i];
        if (name == "--") {
            left.append(arguments.mid(i));
            break;
        }
        name.remove(0, name.startsWith("--") ? 2 : 1);
        if (i > 0 && arguments[i].startsWith('-') && withValue.contains(name) && i + 1 < arguments.size()) {
            taken.append({arguments[i], arguments[i + 1]});
            ++i;
        } else {
            left.append(arguments[i]);
        }
    }
    arguments = left;
    return taken;
}

}  // namespace

void complain(const QString& sentence) {
    print(stderr, QString("matte: %1\n").arg(sentence));
}

CommandLine parseCommandLine(const QStringList& arguments) {
    QCommandLineParser parser;
    parser.setApplicationDescription(kDescription);
    const Options options;
    parser.addOptions(options.all());
    parser.addPositionalArgument("file", "Photo to open, or video or folder to play.", "[FILE]");
    // -version is --version: as a cluster of letters, -reverse would have the v of --version in it.
    parser.setSingleDashWordOptionMode(QCommandLineParser::ParseAsLongOptions);

    CommandLine line;
    QStringList own = arguments;
    line.forQt = own.mid(0, 1) + takeQtOptions(own);
    if (!parser.parse(own)) {
        complain(parser.errorText() + " See matte --help.");
        line.exitCode = kExitUsage;
        return line;
    }
    const bool wantsHelp = parser.isSet(options.help);
    if (wantsHelp || parser.isSet(options.version)) {
        const QString version = "matte " MATTE_VERSION "\n";
        print(stdout, wantsHelp ? parser.helpText().replace("<executable_name>", "matte") : version);
        line.exitCode = kExitOk;
        return line;
    }
    try {
        read(parser, options, line);
    } catch (const Error& error) {
        complain(error.what());
        line.exitCode = exitCodeOf(error.category);
    }
    return line;
}

}  // namespace matte
