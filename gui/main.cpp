// SPDX-License-Identifier: Apache-2.0
// matte: the window.
#include <QApplication>
#include <QIcon>
#include <QSettings>
#include <QSurfaceFormat>

#include "gui/command_line.h"
#include "gui/main_window.h"
#include "inference/model/default_model.h"
#include "inference/model/safetensors.h"

namespace {

matte::PhotoSession::EngineFactory engineFactory(const matte::CommandLine& line) {
    return [kind = line.engine, model = line.model.toStdString()] {
        const auto file =
            matte::Safetensors::read(model.empty() ? matte::defaultModel() : std::filesystem::path(model));
        return matte::Engine::create(matte::UNet::load(file), {.kind = kind});
    };
}

QSurfaceFormat coreProfile() {
    QSurfaceFormat format;
    format.setVersion(3, 3);
    format.setProfile(QSurfaceFormat::CoreProfile);
    format.setDepthBufferSize(0);
    return format;
}

}  // namespace

int main(int argc, char** argv) {
    const auto line = matte::parseCommandLine(QStringList(argv, argv + argc));
    if (line.exitCode) return *line.exitCode;

    QSurfaceFormat::setDefaultFormat(coreProfile());
    QCoreApplication::setOrganizationName("matte");
    QCoreApplication::setApplicationName("matte");
    QCoreApplication::setApplicationVersion(MATTE_VERSION);
    QGuiApplication::setApplicationDisplayName("Matte");
    QGuiApplication::setDesktopFileName(MATTE_APP_ID);
    QApplication app(argc, argv);
    QApplication::setWindowIcon(QIcon(":/icons/app-128.png"));

    QSettings own(QSettings::IniFormat, QSettings::UserScope, "matte", "matte");
    QSettings named(line.config, QSettings::IniFormat);
    matte::MainWindow window(engineFactory(line), line.config.isEmpty() ? own : named, line.background);
    if (!line.photo.isEmpty()) window.openPhoto(matte::PhotoSource::fromFile(line.photo));
    window.show();
    return QApplication::exec();
}
