// SPDX-License-Identifier: Apache-2.0
// matte: the window.
#include <QIcon>
#include <QMessageBox>
#include <QSettings>
#include <QSurfaceFormat>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <mutex>
#include <new>

#include "gui/app/application.h"
#include "gui/app/command_line.h"
#include "gui/photo/photo_control.h"
#include "gui/widgets/banner.h"
#include "gui/window/canvas.h"
#include "gui/window/main_window.h"
#include "gui/window/viewport.h"
#include "inference/backends/create_engine.h"
#include "inference/baselines/live/baseline_selector.h"
#include "inference/core/process.h"
#include "inference/model/default_model.h"
#include "inference/model/read_model.h"

namespace {

/// The GPU that draws the window, so that pictures need not go from one card to another: GlFacts::device, empty while
/// it is not known. Set by the thread that draws, read by the one that makes the live engine.
class DrawingDevice {
public:
    void set(std::string uuid) {
        const std::scoped_lock lock(mutex_);
        uuid_ = std::move(uuid);
    }
    [[nodiscard]] std::string uuid() const {
        const std::scoped_lock lock(mutex_);
        return uuid_;
    }

private:
    mutable std::mutex mutex_;
    std::string uuid_;
};

std::shared_ptr<const matte::baselines::Model> loadModel(const std::string& model) {
    return std::make_shared<const matte::baselines::Model>(matte::baselines::Model::load(matte::readModel(model)));
}

matte::PhotoSession::EngineFactory photoEngine(const matte::CommandLine& line) {
    return [options = line.engine, implementation = line.implementation,
            model = line.model.toStdString()]() -> std::unique_ptr<matte::PhotoEngine> {
        if (implementation) return matte::baselines::makeBaselineEngine(*implementation, loadModel(model), options);
        return matte::createPhotoEngine(matte::loadNetwork(model), options);
    };
}

matte::MakeLiveEngines videoEngines(const matte::CommandLine& line) {
    return [options = line.engine, model = line.model.toStdString()] {
        return matte::createLiveEngines(matte::loadNetwork(model), options);
    };
}

/// `implementations` chooses the implementation of their network.
matte::EnginePicker::EnginesFor liveEngines(
    const matte::CommandLine& line,
    const std::shared_ptr<matte::baselines::ImplementationSwitch>& implementations,
    const std::shared_ptr<const DrawingDevice>& drawing) {
    return
        [given = line.engine, implementations, drawing](const matte::EngineChoice& choice) -> matte::MakeLiveEngines {
            return [given, choice, implementations, drawing] {
                matte::EngineOptions options = given;
                options.precision = choice.precision;
                options.windowsDevice = drawing->uuid();
                matte::LiveEngines engines = matte::makeLiveEngines(choice.model, options);
                const bool onCpu = engines.first->info().kind == matte::EngineKind::cpu;
                const std::string model = matte::liveModel(choice.model, onCpu);
                const matte::baselines::Product product{[model] { return loadModel(model); }, options};
                engines.selector = std::make_unique<matte::baselines::BaselineSelector>(product, implementations);
                return engines;
            };
        };
}

/// Those of the choices in the menu, too.
std::vector<std::filesystem::path> modelsRead(const matte::CommandLine& line) {
    std::vector<std::filesystem::path> files = matte::modelFiles(line.model.toStdString());
    std::ranges::copy(matte::modelFiles({}), std::back_inserter(files));
    return files;
}

QSurfaceFormat coreProfile() {
    QSurfaceFormat format;
    format.setVersion(3, 3);
    format.setProfile(QSurfaceFormat::CoreProfile);
    format.setDepthBufferSize(0);
    format.setSwapInterval(0);  // the desktop composes without tearing; waiting here would hold up the keys
    return format;
}

int run(int argc, char** argv) {
    const QStringList arguments(argv, argv + argc);
    const auto line = matte::parseCommandLine(arguments);
    if (line.exitCode) return *line.exitCode;
    if (const QString problem = matte::displayProblem(line.forQt); !problem.isEmpty()) {
        matte::complain(problem);
        return matte::kExitEngine;
    }

    QSurfaceFormat::setDefaultFormat(coreProfile());
    QCoreApplication::setOrganizationName("matte");
    QCoreApplication::setApplicationName("matte");
    QCoreApplication::setApplicationVersion(MATTE_VERSION);
    QGuiApplication::setApplicationDisplayName("Matte");
    QGuiApplication::setDesktopFileName(MATTE_APP_ID);
    // Not ours, of which Qt would take some: a file after -- may be called -reverse.
    std::vector<QByteArray> texts;
    texts.reserve(std::size_t(line.forQt.size()));
    for (const QString& argument : line.forQt) texts.push_back(argument.toLocal8Bit());
    std::vector<char*> forQt;
    forQt.reserve(texts.size() + 1);
    for (QByteArray& text : texts) forQt.push_back(text.data());
    int count = int(forQt.size());
    forQt.push_back(nullptr);
    matte::Application app(count, forQt.data());
    QApplication::setWindowIcon(QIcon(":/icons/app-128.png"));
    const matte::Termination termination;
    QObject::connect(&termination, &matte::Termination::wanted, &app, [] { QCoreApplication::exit(matte::kExitOk); });
    if (const QString problem = matte::openGlProblem(); !problem.isEmpty()) {
        matte::complain(problem);
        if (line.automation.frames == 0) QMessageBox::critical(nullptr, "Matte", problem);  // somebody may be there
        return matte::kExitEngine;
    }

    QSettings own(QSettings::IniFormat, QSettings::UserScope, "matte", "matte");
    QSettings named(line.config, QSettings::IniFormat);
    const auto implementations = std::make_shared<matte::baselines::ImplementationSwitch>(line.implementation);
    const auto drawing = std::make_shared<DrawingDevice>();
    const matte::EngineChoice engine{line.model.toStdString(), line.engine.precision};
    const auto enginesFor = liveEngines(line, implementations, drawing);
    const matte::Startup startup{.background = line.background,
                                 .makeLiveEngines = enginesFor(engine),
                                 .makeVideoEngines = videoEngines(line),
                                 .engine = engine,
                                 .enginesFor = enginesFor,
                                 .implementations = implementations,
                                 .models = modelsRead(line),
                                 .interop = line.interop,
                                 .keepSettings = line.automation.frames == 0};  // a counted run changes nothing
    QSettings& store = line.config.isEmpty() ? own : named;
    const bool firstStart = !store.contains("version");
    matte::MainWindow window(photoEngine(line), store, startup);
    QObject::connect(&window.canvas().viewport(), &matte::Viewport::deviceKnown, &window,
                     [drawing](const std::string& uuid) { drawing->set(uuid); });
    if (firstStart) window.setMode(matte::Mode::live);  // its page says what was found and what is missing
    if (!line.photo.isEmpty()) window.photos().open(matte::PhotoSource::fromFile(line.photo));
    matte::HeadlessRun headless(window, line.automation);
    QObject::connect(&headless, &matte::HeadlessRun::ended, &app, &QCoreApplication::exit, Qt::QueuedConnection);
    QObject::connect(&termination, &matte::Termination::wanted, &window, [&headless, &window] {
        headless.interrupt();
        window.closeNow();
    });
    QObject::connect(&app, &matte::Application::failed, &window.canvas().banner(), &matte::Banner::showError);
    window.show();
    window.actions()[matte::ActionId::virtualCamera]->setChecked(line.virtualCamera);
    headless.begin();
    const int code = QApplication::exec();
    store.sync();
    if (store.status() == QSettings::AccessError) {
        matte::complain(QString("The settings could not be written to %1: make the file and its folder writable.")
                            .arg(store.fileName()));
    }
    return code == 0 ? headless.finish() : code;
}

}  // namespace

int main(int argc, char** argv) {
    matte::prepareProcess("matte");
    try {
        return run(argc, argv);
    } catch (const matte::Error& error) {
        matte::complain(error.what());
        return matte::exitCodeOf(error.category);
    } catch (const std::bad_alloc&) {
        std::fputs("matte: There is not enough memory: close other programs.\n", stderr);
    } catch (const std::exception& error) {
        matte::complain(QString("Something unexpected happened (%1): please report it.").arg(error.what()));
    }
    return matte::kExitUnexpected;
}
