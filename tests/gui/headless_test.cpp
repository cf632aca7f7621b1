// SPDX-License-Identifier: Apache-2.0
// Runs that are driven from the command line: they end by themselves, and their exit code says how.
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSignalSpy>
#include <QTest>

#include <atomic>
#include <future>
#include <memory>

#include "gui/app/headless_run.h"
#include "gui/photo/background_chooser.h"
#include "gui/widgets/progress_pill.h"
#include "gui/window/canvas.h"
#include "gui/window/viewport.h"
#include "inference/core/error.h"
#include "tests/gui/groups.h"
#include "tests/gui/live_fixture.h"
#include "tests/support/running/eventually.h"

namespace matte::test {
namespace {

/// A window as the program has it when it begins a run: nothing that its threads said has arrived yet.
MainWindow& freshWindow(LiveFixture& live, const PhotoSession::EngineFactory& factory = {}) {
    WindowFixture& base = live.base;
    const auto asked = std::make_shared<std::atomic<bool>>(false);
    const auto made = [asked, make = factory ? factory : fakeEngine(base.log)] {
        *asked = true;
        return make();
    };
    base.window = std::make_unique<MainWindow>(made, *base.store, base.startup);
    if (!eventually([&] { return asked->load(); })) qFatal("The window makes no engine.");
    return *base.window;
}

Background picture(const std::string& path) {
    Background background;
    background.kind = Background::Kind::image;
    background.imagePath = path;
    return background;
}

/// The exit code of a run that has to end without a frame.
int exitCode(MainWindow& window, const AutomationOptions& automation) {
    HeadlessRun run(window, automation);
    const QSignalSpy ended(&run, &HeadlessRun::ended);
    run.begin();
    window.show();
    return QTest::qWaitFor([&] { return !ended.isEmpty(); }) ? ended[0][0].toInt() : -1;
}

/// A run over a background that is not read yet, for the model comes first and is not there.
struct BusyRun {
    BusyRun() {
        run.begin();
        live.base.showWindow();
    }

    LiveFixture live;
    std::promise<void> busy;
    MainWindow& window = [this]() -> MainWindow& {
        live.base.startup.background = picture(writePhoto(live.base.folder / "sea.png").toStdString());
        return freshWindow(live, [this, ready = busy.get_future().share()] {
            ready.wait();
            return fakeEngine(live.base.log)();
        });
    }();
    HeadlessRun run{window, {.source = LiveSource{}, .frames = 1, .background = true}};
};

}  // namespace

class HeadlessTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void aHeadlessRunEndsByItselfAndWritesItsStatistics() {
        LiveFixture live;
        const QString file = QString::fromStdString((live.base.folder / "run.json").string());
        const QString trace = QString::fromStdString((live.base.folder / "trace.json").string());
        HeadlessRun run(live.window(), {.source = LiveSource{}, .frames = 3, .statistics = file, .trace = trace});
        QSignalSpy ended(&run, &HeadlessRun::ended);
        run.begin();
        live.press(Qt::Key_T, Qt::ControlModifier);  // another trace would end this one
        QVERIFY(live.base.hasError() && !live.window().actions()[ActionId::trace]->isChecked());
        for (int i = 0; i < 3; ++i) live.showNext();
        QCOMPARE(ended.count(), 1);
        QCOMPARE(ended[0][0].toInt(), 0);
        QFile written(file), traced(trace);
        QVERIFY(written.open(QIODevice::ReadOnly) && traced.open(QIODevice::ReadOnly));
        const QJsonObject object = QJsonDocument::fromJson(written.readAll()).object();
        QCOMPARE(object["frames"].toObject()["presented"].toInt(), 3);
        QCOMPARE(object["frames"].toObject()["staleComposites"].toInt(), 0);
        QCOMPARE(object["engine"].toObject()["name"].toString(), "Scripted engine");
        QCOMPARE(object["layers"].toArray().size(), 2);
        QVERIFY(!object["graphics"].toObject()["renderer"].toString().isEmpty());
        QVERIFY(QJsonDocument::fromJson(traced.readAll()).object()["traceEvents"].toArray().size() > 3);
    }

    void aSignalEndsItWithACodeOfItsOwn() {
        LiveFixture live;
        const QString file = QString::fromStdString((live.base.folder / "run.json").string());
        HeadlessRun run(live.window(), {.source = LiveSource{}, .frames = 3, .statistics = file});
        const QSignalSpy ended(&run, &HeadlessRun::ended);
        run.begin();
        live.showNext();
        run.interrupt();
        QCOMPARE(ended.count(), 1);
        QCOMPARE(ended[0][0].toInt(), int(kExitInterrupted));
        QVERIFY(QFile::exists(file));
        HeadlessRun users(live.window(), {});
        users.interrupt();
        QCOMPARE(users.finish(), int(kExitOk));
    }

    void aSourceThatIsLostEndsIt() {
        LiveFixture live;
        live.feed.lose("The camera was unplugged: plug it in again.");
        QCOMPARE(exitCode(live.window(), {.source = LiveSource{}, .frames = 3}), int(kExitSource));
    }

    void aFileThatCannotBeReadEndsItAsSuch() {
        LiveFixture live;
        live.base.startup.open = LiveSession::openNamed;
        LiveSource missing;
        missing.spec.kind = SourceSpec::Kind::file;
        missing.spec.name = (live.base.folder / "none.mp4").string();
        QCOMPARE(exitCode(freshWindow(live), {.source = missing, .frames = 3}), int(kExitInput));
    }

    void aGpuThatIsRequiredIsMissedWithAndWithoutASource() {
        LiveFixture live;
        QCOMPARE(exitCode(live.window(), {.source = LiveSource{}, .frames = 3, .requireGpu = true}), int(kExitEngine));
        QCOMPARE(exitCode(live.window(), {.requireGpu = true}), int(kExitEngine));
        QCOMPARE(exitCode(freshWindow(live), {.requireGpu = true}), int(kExitEngine));
        const auto none = []() -> std::unique_ptr<Engine> {
            throw Error(ErrorCategory::engine, "No GPU was found: use the processor.");
        };
        QCOMPARE(exitCode(freshWindow(live, none), {.requireGpu = true}), int(kExitEngine));
    }

    void aModelThatCannotBeUsedEndsItAsSuch() {
        LiveFixture live;
        live.script.failMaking = true;
        QCOMPARE(exitCode(live.window(), {.source = LiveSource{}, .frames = 3}), int(kExitModel));
        live.base.log.failMaking = 1;
        QCOMPARE(exitCode(freshWindow(live), {.requireGpu = true}), int(kExitModel));
    }

    void aBackgroundThatCannotBeReadEndsIt() {
        LiveFixture live;
        live.base.startup.background = picture((live.base.folder / "none.png").string());
        QCOMPARE(exitCode(freshWindow(live), {.source = LiveSource{}, .frames = 3, .background = true}),
                 int(kExitInput));
    }

    void aRememberedBackgroundThatIsGoneEndsNothing() {
        LiveFixture live;
        live.base.startup.background = picture((live.base.folder / "none.png").string());
        MainWindow& window = freshWindow(live);
        HeadlessRun run(window, {.source = LiveSource{}, .frames = 3});
        const QSignalSpy ended(&run, &HeadlessRun::ended), failed(&window, &MainWindow::failed);
        run.begin();
        live.base.showWindow();
        QTRY_COMPARE(failed.count(), 1);
        QTRY_VERIFY(window.live().isOn());
        QVERIFY(ended.isEmpty());
    }

    void itBeginsWithWhatIsThereWhenReadingItsBackgroundIsCancelled() {
        BusyRun run;
        Q_EMIT run.window.canvas().progress().cancelRequested();
        QTRY_VERIFY(run.window.live().isOn());
        QVERIFY(!run.window.document().params().background.image);
        run.busy.set_value();
    }

    void itBeginsOnceItsBackgroundWasRead() {
        BusyRun run;
        QTRY_VERIFY(run.window.canvas().viewport().contextSeen());
        WindowFixture::flushEvents();
        QVERIFY(!run.window.live().isOn());
        run.busy.set_value();
        QTRY_VERIFY(run.window.live().isOn());
        QVERIFY(run.window.document().params().background.image != nullptr);
    }

    void aFileThatCannotBeOpenedByHandEndsNoRunWithoutFrames() {
        LiveFixture live;
        HeadlessRun run(live.window(), {.source = LiveSource{}});
        const QSignalSpy ended(&run, &HeadlessRun::ended);
        run.begin();
        live.window().backgrounds().choose(writeText(live.base.folder / "bad.png", "x"));
        QTRY_VERIFY(live.base.hasError());
        QVERIFY(ended.isEmpty());
    }
};

int runHeadlessTests(int argc, char** argv) {
    HeadlessTest test;
    return QTest::qExec(&test, argc, argv);
}

}  // namespace matte::test

#include "headless_test.moc"
