// SPDX-License-Identifier: Apache-2.0
// Document, Settings, ViewTransform and the command line: plain values, no window.
#include <QFile>
#include <QSettings>
#include <QTest>

#include <cmath>
#include <utility>
#include <vector>

#include "gui/app/application.h"
#include "gui/app/command_line.h"
#include "gui/app/settings.h"
#include "gui/photo/document.h"
#include "gui/window/view_transform.h"
#include "tests/gui/groups.h"
#include "tests/support/files/scratch_folder.h"

namespace matte::test {

class DocumentTest : public QObject {
    Q_OBJECT

private:
    static CompositeParams withThreshold(float value) {
        CompositeParams params;
        params.threshold = value;
        return params;
    }
    static std::unique_ptr<QSettings> store(const ScratchFolder& folder) {
        return std::make_unique<QSettings>(QString::fromStdString((folder / "s.ini").string()), QSettings::IniFormat);
    }

private Q_SLOTS:
    void editsOfOneGestureAreOneStep() {
        Document document;
        for (const float value : {0.4F, 0.3F, 0.2F}) document.edit(withThreshold(value), ParamControl::threshold);
        document.finishGesture();
        document.edit(withThreshold(0.9F), ParamControl::threshold);
        QCOMPARE(document.undoStack().count(), 2);
        document.undo();
        QCOMPARE(document.params().threshold, 0.2F);
        document.undo();
        QVERIFY(document.params() == CompositeParams{});
        document.redo();
        QCOMPARE(document.params().threshold, 0.2F);
    }

    void editsOfDifferentControlsAreSteps() {
        Document document;
        CompositeParams params = withThreshold(0.4F);
        document.edit(params, ParamControl::threshold);
        params.softness = 0.1F;
        document.edit(params, ParamControl::softness);
        QCOMPARE(document.undoStack().count(), 2);
    }

    void aDragBackToItsStartLeavesNoStep() {
        Document document;
        document.edit(withThreshold(0.4F), ParamControl::threshold);
        document.edit(CompositeParams{}, ParamControl::threshold);
        QCOMPARE(document.undoStack().count(), 0);
        document.edit(CompositeParams{}, ParamControl::threshold);
        QCOMPARE(document.undoStack().count(), 0);
    }

    void anEditAfterAnUndoIsNotMergedIntoTheStepBefore() {
        Document document;
        document.edit(withThreshold(0.4F), ParamControl::threshold);
        document.finishGesture();
        document.edit(withThreshold(0.3F), ParamControl::threshold);
        document.undo();
        document.edit(withThreshold(0.2F), ParamControl::threshold);
        QCOMPARE(document.undoStack().count(), 2);
        document.undo();
        QCOMPARE(document.params().threshold, 0.4F);
    }

    void stepsAboutSomethingElseLeaveMirroringAsItIs() {
        Document document;
        const auto turn = [](CompositeParams& params) { params.transform.mirrored = !params.transform.mirrored; };
        document.edit(withThreshold(0.4F), ParamControl::threshold);
        CompositeParams mirrored = document.params();
        turn(mirrored);
        document.adopt(mirrored, MirrorOf::others);  // another source
        document.undo();
        QVERIFY(document.params().transform.mirrored);
        document.redo();
        QVERIFY(document.params() == mirrored);
        document.step(ParamControl::mirror, turn);
        QVERIFY(!document.params().transform.mirrored);
        document.undo();
        QVERIFY(document.params() == mirrored);
    }

    void aStepEndsWhereAnotherSourceBegins() {
        Document document;
        CompositeParams mirrored, larger;
        mirrored.transform.mirrored = larger.transform.mirrored = true;
        larger.transform.scale = 1.2F;
        document.adopt(mirrored, MirrorOf::cameras);
        document.edit(larger, ParamControl::scale);
        larger.transform.mirrored = false;
        document.adopt(larger, MirrorOf::others);
        larger.transform.scale = 1.4F;
        document.edit(larger, ParamControl::scale);  // the same control, and nothing was let go
        document.undo();
        QCOMPARE(document.params().transform.scale, 1.2F);
        QVERIFY(!document.params().transform.mirrored);
    }

    void aNewPhotoKeepsTheParamsAndForgetsTheSteps() {
        Document document;
        document.edit(withThreshold(0.4F), ParamControl::threshold);
        document.setPhoto({});
        QCOMPARE(document.params().threshold, 0.4F);
        QVERIFY(!document.undoStack().canUndo());
    }

    void settingsComeBackAsTheyWere() {
        const ScratchFolder folder;
        Settings settings;
        settings.geometry = QWidget().saveGeometry();
        settings.params.background = parseBackground("color:#123456");
        settings.params.background.blurStrength = 33;
        settings.params.background.imagePath = "/a b/ü.webm";
        settings.params.background.moving = true;
        settings.params.background.placement = Placement::fit;
        settings.params.background.position = 0.2F;
        settings.params.threshold = 0.37F;
        settings.params.softness = 0.11F;
        settings.params.decontaminate = false;
        settings.recentFiles = QStringList{"/x, y.png"};
        settings.openFolder = "/open";
        settings.exportFolder = "/export";
        settings.backgroundFolder = "/background";
        settings.theme = ThemeChoice::dark;
        settings.panelVisible = settings.splitVisible = false;
        settings.save(*store(folder));
        QStringList damaged;
        QVERIFY(Settings::load(*store(folder), damaged) == settings);
        QVERIFY2(damaged.isEmpty(), qPrintable(damaged.join(' ')));
    }

    void damagedSettingsFallBack() {
        const ScratchFolder folder;
        {
            const auto written = store(folder);
            for (const char* key : {"look/background", "look/blur", "look/color", "look/placement", "look/position",
                                    "look/threshold", "look/softness", "window/theme"}) {
                written->setValue(key, "nan");
            }
        }
        QStringList damaged;
        const Settings settings = Settings::load(*store(folder), damaged);
        QCOMPARE(damaged.size(), 8);
        QVERIFY(settings.params == CompositeParams{});
        QVERIFY(settings.theme == ThemeChoice::system);
        store(folder)->setValue("look/threshold", 17.0);
        QCOMPARE(Settings::load(*store(folder), damaged).params.threshold, 1.0F);
    }

    // Version 2's new parameters had an edge of 0.6.
    void softnessStaysAsAnEarlierVersionHadIt() {
        const ScratchFolder folder;
        {
            const auto written = store(folder);
            written->setValue("version", 2);
            written->setValue("look/threshold", 0.4);
            written->setValue("profiles/1/name", "Evening");
            written->setValue("profiles/2/name", "Morning");
            written->setValue("profiles/2/softness", 0.2);
        }
        QStringList damaged;
        const Settings before = Settings::load(*store(folder), damaged);
        QCOMPARE(before.params.softness, 0.6F);
        QCOMPARE(before.live.profiles[0].params.softness, 0.6F);
        QCOMPARE(before.live.profiles[1].params.softness, 0.2F);
        before.save(*store(folder));
        QVERIFY(Settings::load(*store(folder), damaged) == before);
        store(folder)->remove("look/softness");
        QCOMPARE(Settings::load(*store(folder), damaged).params.softness, CompositeParams{}.softness);
        QVERIFY(damaged.isEmpty());
        QCOMPARE(CompositeParams{}.softness, 1.0F);  // the edge as it was found
    }

    void recentFilesAreTheNewestTenOnce() {
        Settings settings;
        for (int i = 0; i < 12; ++i) settings.addRecent(QString::number(i));
        settings.addRecent("5");
        QCOMPARE(settings.recentFiles.size(), Settings::kMaxRecent);
        QCOMPARE(settings.recentFiles.mid(0, 3), (QStringList{"5", "11", "10"}));
        QCOMPARE(settings.recentFiles.count("5"), 1);
    }

    void zoomKeepsThePointUnderThePointer() {
        ViewTransform view;
        view.setSizes({4000, 3000}, {1000, 800});
        QVERIFY(view.fitted());
        view.zoomAt(4, 610, 420);
        const double x = (610 - view.left()) / view.zoom(), y = (420 - view.top()) / view.zoom();
        view.zoomAt(1.7, 610, 420);
        QVERIFY(std::abs((610 - view.left()) / view.zoom() - x) < 1 / view.zoom());
        QVERIFY(std::abs((420 - view.top()) / view.zoom() - y) < 1 / view.zoom());
    }

    void fitShowsAllAndEnlargesALittle() {
        ViewTransform view;
        view.setSizes({4000, 1000}, {1000, 800});
        QVERIFY(view.left() >= 0 && view.left() + view.width() <= 1000);
        QVERIFY(std::abs(view.top() + view.height() / 2 - 400) < 1);
        view.setSizes({100, 50}, {1000, 800});
        QCOMPARE(view.zoom(), ViewTransform::kMaxFit);
        view.setSizes({100, 50}, {1000, 800}, 2);
        QCOMPARE(view.zoom(), 2 * ViewTransform::kMaxFit);
        view.setSizes({100, 50}, {10, 10});
        QVERIFY(view.zoom() < 0.1);
    }

    void panStopsAtThePicturesEdge() {
        ViewTransform view;
        view.setSizes({1000, 1000}, {500, 500});
        view.zoomTo(2, 250, 250);
        view.pan(1e6, -1e6);
        QCOMPARE(view.left(), 0.0);
        QCOMPARE(view.top(), 500.0 - 2000.0);
        view.zoomTo(1e9, 0, 0);
        QCOMPARE(view.zoom(), ViewTransform::kMaxZoom);
    }

    void commandLineIsUnderstood() {
        const CommandLine line = parseCommandLine({"matte", "--background", "image:b.png", "--engine", "cpu", "--model",
                                                   "m.safetensors", "--config", "c.ini", "p.jpg"});
        QVERIFY(!line.exitCode);
        QVERIFY(line.photo.startsWith('/') && line.photo.endsWith("/p.jpg"));
        QVERIFY(line.model == "m.safetensors" && line.config.endsWith("/c.ini"));
        QVERIFY(line.engine.kind == EngineKind::cpu);
        QVERIFY(line.background->kind == Background::Kind::image);
        QVERIFY(QString::fromStdString(line.background->imagePath).startsWith('/'));
        QVERIFY(parseCommandLine({"matte", "--background", "video:b.mp4"}).background->moving);
    }

    void optionsOfTheDesktopAreLeftToIt() {
        const CommandLine line = parseCommandLine({"matte", "-session", "117f", "--platform", "xcb", "p.jpg"});
        QVERIFY(!line.exitCode);
        QVERIFY(line.photo.endsWith("/p.jpg"));
        QCOMPARE(line.forQt, (QStringList{"matte", "-session", "117f", "--platform", "xcb"}));
        const CommandLine file = parseCommandLine({"matte", "--", "-reverse"});
        QVERIFY(!file.exitCode && file.automation.source->spec.name.ends_with("/-reverse"));
        QCOMPARE(file.forQt, QStringList{"matte"});
    }

    void aMissingDisplayIsSaidBeforeQtAborts() {
        const ScratchFolder folder;
        std::vector<std::pair<const char*, QByteArray>> before;
        for (const char* name :
             {"DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "QT_QPA_PLATFORM", "XDG_RUNTIME_DIR"}) {
            before.emplace_back(name, qgetenv(name));
            qunsetenv(name);
        }
        qputenv("XDG_RUNTIME_DIR", QByteArray::fromStdString(folder.path().string()));
        const QString nowhere = displayProblem({"matte", "p.jpg"});
        const QString chosen = displayProblem({"matte", "--platform", "offscreen"});
        QVERIFY(QFile(QString::fromStdString((folder / "wayland-0").string())).open(QIODevice::WriteOnly));
        const QString wayland = displayProblem({"matte"});
        for (const auto& [name, value] : before) {
            if (value.isNull()) {
                qunsetenv(name);
            } else {
                qputenv(name, value);
            }
        }
        QVERIFY(nowhere.contains("matte-cli"));
        QVERIFY(chosen.isEmpty() && wayland.isEmpty());
    }

    void settingsAreTheirOwnersAlone() {
        const ScratchFolder folder;
        const QString path = QString::fromStdString((folder / "new" / "matte.ini").string());
        QSettings store(path, QSettings::IniFormat);
        for (int i = 0; i < 2; ++i) {
            Settings().save(store);
            store.sync();
            QCOMPARE(QFile::permissions(path) & ~(QFile::ReadUser | QFile::WriteUser),
                     QFile::ReadOwner | QFile::WriteOwner);
            QFile::setPermissions(path, QFile::permissions(path) | QFile::ReadOther);  // as an earlier version left it
            store.setValue("version", 0);
        }
    }

    void commandLineWritesOverNothingThatItReads() {
        const ScratchFolder folder;
        const QString model = QString::fromStdString((folder / "m.safetensors").string()), link = model + ".json";
        QFile file(model);
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write("a model") > 0);
        std::filesystem::create_symlink(model.toStdString(), link.toStdString());
        const auto code = [&](const QString& option, const QString& out, const QString& other) {
            return parseCommandLine({"matte", "--source", other, "--model", model, option, out, "--trace", other})
                .exitCode.value_or(-1);
        };
        const QString none = QString::fromStdString((folder / "none.json").string());
        for (const char* option : {"--stats", "--config"}) {
            QCOMPARE(code(option, link, "test:person"), int(kExitUsage));
            QCOMPARE(code(option, model, "test:person"), int(kExitUsage));
            QCOMPARE(code(option, none, none), int(kExitUsage));
            QCOMPARE(code(option, none, "test:person"), -1);
        }
    }

    void commandLineDrivesLiveRuns() {
        const CommandLine line = parseCommandLine({"matte", "--source", "test:person", "--size", "640x480", "--frames",
                                                   "60", "--stats", "s.json", "--precision", "fp32", "--no-tune",
                                                   "--no-interop", "--require-gpu", "--virtual-camera"});
        QVERIFY(!line.exitCode);
        QVERIFY(line.automation.source->spec.kind == SourceSpec::Kind::test);
        QVERIFY((line.automation.source->spec.size == Size{640, 480}));
        QCOMPARE(line.automation.frames, 60ULL);
        QVERIFY(line.automation.statistics.startsWith('/') && line.automation.statistics.endsWith("/s.json"));
        QVERIFY(line.engine.precision == Precision::fp32 && !line.engine.tune);
        QVERIFY(!line.interop && line.automation.requireGpu && line.virtualCamera);
        const CommandLine camera = parseCommandLine({"matte", "--source", "camera:Desk", "--size", "1280x720"});
        QVERIFY((camera.automation.source->size == Size{1280, 720}));
        QVERIFY(parseCommandLine({"matte", "clip.mp4"}).automation.source->spec.name.ends_with("/clip.mp4"));
    }

    void commandLineRefusals_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<int>("exitCode");
        QTest::newRow("background") << QStringList{"matte", "--background", "blur:1000"} << 2;
        QTest::newRow("engine") << QStringList{"matte", "--engine", "abacus"} << 2;
        QTest::newRow("option") << QStringList{"matte", "--frobnicate"} << 2;
        QTest::newRow("two photos") << QStringList{"matte", "a.png", "b.png"} << 2;
        QTest::newRow("photo and source") << QStringList{"matte", "--source", "camera", "a.png"} << 2;
        QTest::newRow("source") << QStringList{"matte", "--source", "gopher://x"} << 2;
        QTest::newRow("size") << QStringList{"matte", "--source", "camera", "--size", "big"} << 2;
        QTest::newRow("size alone") << QStringList{"matte", "--size", "640x480"} << 2;
        QTest::newRow("no frames") << QStringList{"matte", "--source", "camera", "--frames", "0"} << 2;
        QTest::newRow("frames of nothing") << QStringList{"matte", "--frames", "3"} << 2;
        QTest::newRow("precision") << QStringList{"matte", "--precision", "double"} << 2;
        QTest::newRow("no such folder") << QStringList{"matte", "--source", "camera", "--stats", "/no/such/s.json"}
                                        << 7;
        QTest::newRow("an option of Qt's") << QStringList{"matte", "-reverse"} << 2;
        QTest::newRow("another") << QStringList{"matte", "-style", "fusion"} << 2;
        QTest::newRow("without its value") << QStringList{"matte", "-platform"} << 2;
        QTest::newRow("several letters") << QStringList{"matte", "-vh"} << 2;
        QTest::newRow("beside help") << QStringList{"matte", "--help", "--frobnicate"} << 2;
        QTest::newRow("short version") << QStringList{"matte", "-v"} << 0;
        QTest::newRow("single dash") << QStringList{"matte", "-version"} << 0;
        QTest::newRow("help") << QStringList{"matte", "--help"} << 0;
        QTest::newRow("version") << QStringList{"matte", "--version"} << 0;
    }
    void commandLineRefusals() {
        QFETCH(QStringList, arguments);
        QFETCH(int, exitCode);
        QCOMPARE(parseCommandLine(arguments).exitCode.value_or(-1), exitCode);
    }
};

int runDocumentTests(int argc, char** argv) {
    DocumentTest test;
    return QTest::qExec(&test, argc, argv);
}

}  // namespace matte::test

#include "document_test.moc"
