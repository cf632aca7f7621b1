// SPDX-License-Identifier: Apache-2.0
#include "gui/command_line.h"

#include <QCommandLineParser>
#include <QFileInfo>

#include <cstdio>

#include "inference/error.h"

namespace matte {
namespace {

constexpr int kUsageExit = 2;

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
    throw Error(Area::usage, "'" + text.toStdString() + "' is not an engine: use auto, cpu or cuda.");
}

}  // namespace

CommandLine parseCommandLine(const QStringList& arguments) {
    QCommandLineParser parser;
    parser.setApplicationDescription("Matte replaces what is behind a person.");
    const QCommandLineOption help({"h", "help"}, "Show this help.");
    const QCommandLineOption version({"v", "version"}, "Show the version.");
    const QCommandLineOption background(
        "background", "blur, blur:N (1 to 100), color:#rrggbb, image:PATH or transparent.", "background");
    const QCommandLineOption model("model", "Model file (safetensors).", "file");
    const QCommandLineOption engine("engine", "auto, cpu or cuda.", "engine", "auto");
    const QCommandLineOption config("config", "Keep the settings in this file.", "file");
    parser.addOptions({help, version, background, model, engine, config});
    parser.addPositionalArgument("photo", "Photo to open.", "[PHOTO]");

    CommandLine line;
    const bool understood = parser.parse(arguments);
    if (parser.isSet(help)) {
        print(stdout, parser.helpText().replace("<executable_name>", "matte"));
        line.exitCode = 0;
        return line;
    }
    if (parser.isSet(version)) {
        print(stdout, "matte " MATTE_VERSION "\n");
        line.exitCode = 0;
        return line;
    }
    try {
        if (!understood) throw Error(Area::usage, parser.errorText().toStdString() + " See matte --help.");
        if (parser.positionalArguments().size() > 1) {
            throw Error(Area::usage, "The window opens one photo at a time: matte-cli image takes many.");
        }
        line.photo = absolute(parser.positionalArguments().value(0));
        line.model = absolute(parser.value(model));
        line.config = absolute(parser.value(config));
        line.engine = engineFrom(parser.value(engine));
        if (parser.isSet(background)) line.background = backgroundFrom(parser.value(background));
    } catch (const Error& error) {
        print(stderr, QString("matte: %1\n").arg(error.what()));
        line.exitCode = kUsageExit;
    }
    return line;
}

}  // namespace matte
