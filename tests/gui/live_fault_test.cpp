// SPDX-License-Identifier: Apache-2.0
// What goes wrong live: the window goes on, the user is told, and nothing of the room is shown.
#include <QApplication>
#include <QDir>
#include <QJsonDocument>
#include <QJsonObject>
#include <QMenu>
#include <QTest>
#include <QTimer>

#include <future>

#include "gui/live/camera_light.h"
#include "gui/live/live_control.h"
#include "gui/live/live_page.h"
#include "gui/live/live_report.h"
#include "gui/live/recorder.h"
#include "gui/widgets/banner.h"
#include "gui/window/canvas.h"
#include "gui/window/status_line.h"
#include "gui/window/viewport.h"
#include "tests/gui/groups.h"
#include "tests/gui/live_fixture.h"

namespace matte::test {
namespace {

/// A source that ends only when the test lets it.
class SlowToClose : public FrameSource {
public:
    SlowToClose(std::unique_ptr<FrameSource> source, std::shared_future<void> closed)
        : source_(std::move(source)), closed_(std::move(closed)) {}
    ~SlowToClose() override { closed_.wait(); }
    SlowToClose(const SlowToClose&) = delete;
    SlowToClose& operator=(const SlowToClose&) = delete;
    std::optional<Frame> read(std::stop_token stop) override { return source_->read(std::move(stop)); }
    [[nodiscard]] SourceInfo info() const override { return source_->info(); }

private:
    std::unique_ptr<FrameSource> source_;
    std::shared_future<void> closed_;
};

/// Where the user's files are, for as long as it is there.
class HomeFolder {
public:
    explicit HomeFolder(const QByteArray& path) : before_(qgetenv("HOME")) { qputenv("HOME", path); }
    ~HomeFolder() { qputenv("HOME", before_); }
    HomeFolder(const HomeFolder&) = delete;
    HomeFolder& operator=(const HomeFolder&) = delete;

private:
    QByteArray before_;
};

}  // namespace

class LiveFaultTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void beforeTheFirstMatteTheBackgroundAloneIsShown() {
        LiveFixture live;
        live.script.matteFault = MatteFault::notFinite;
        live.press(Qt::Key_Space);
        live.feed.push(160, 120);
        QTRY_VERIFY(live.window().canvas().liveShown());
        QTRY_VERIFY(live.backgroundShown());
        QTRY_COMPARE(int(live.window().live().statistics().matteFailures), 1);
        QVERIFY(live.backgroundShown());
        live.window().recorder().takeCutout({});
        QVERIFY(live.base.hasError() && live.base.banner().contains("no picture yet"));
        live.press(Qt::Key_F8);
        live.window().recorder().takeCutout({});
        QVERIFY(live.base.banner().contains("You are hidden"));
        live.press(Qt::Key_F8);
        live.script.matteFault = MatteFault::none;
        live.showNext();
        QVERIFY(live.personShown());
    }

    void aMatteThatIsMissingLeavesTheLastGoodPicture() {
        LiveFixture live;
        live.start();
        const QColor good = live.shown();
        live.script.matteFault = MatteFault::notFinite;
        live.feed.push(160, 120);
        QTRY_COMPARE(int(live.window().live().statistics().matteFailures), 1);
        live.pushThrough();
        QCOMPARE(live.shown(), good);
    }

    void aMatteThatSuddenlyCoversEverythingIsTold() {
        LiveFixture live;
        live.start();
        const QColor good = live.shown();
        live.script.matteFault = MatteFault::everything;
        live.feed.push(160, 120);
        QTRY_VERIFY(live.base.hasError());
        QVERIFY(live.base.banner().contains("suddenly covers the whole picture"));
        QCOMPARE(live.shown(), good);
        const auto report = QJsonDocument::fromJson(toJson(live.window().liveControl().report())).object();
        QCOMPARE(report["frames"]["mattesRefused"].toInt(), 1);
        QVERIFY(report["frames"]["matteLosses"].toString().contains("hardly changed: 1"));
        live.press(Qt::Key_Space);
        QTRY_VERIFY(!live.base.hasError());
    }

    void f8HidesThePersonAtOnce() {
        LiveFixture live;
        live.start();
        live.script.take.close();  // the engine is of no help
        live.feed.push(160, 120);
        QTRY_COMPARE(live.script.submitted.load(), 2);
        live.press(Qt::Key_F8);
        QVERIFY(live.backgroundShown());  // the next picture that is drawn is without the person
        QVERIFY(live.window().canvas().personHidden());
        live.script.take.open();
        live.pushThrough();
        QVERIFY(live.backgroundShown());  // newer frames change nothing
        live.press(Qt::Key_F8);
        QTRY_VERIFY(live.personShown());
        QVERIFY(!live.window().canvas().personHidden());
    }

    void allPartsOfTheWindowSayTheSameOfTheCamera() {
        LiveFixture live;
        MainWindow& window = live.window();
        // What contradicts what the stage is, or is missing; empty when all is well.
        const auto wrong = [&] {
            const QString page = window.canvas().livePage().text(), status = window.status().text();
            const LiveStage stage = window.live().stage();
            const std::pair<QString, bool> facts[] = {
                {"See yourself live", stage == LiveStage::off || stage == LiveStage::closing},
                {"The camera is off until you start it", stage == LiveStage::off},
                {"being turned off", stage == LiveStage::closing},
                {"Opening", stage == LiveStage::opening},
                {"Waiting for", stage == LiveStage::waiting}};
            QStringList found;
            for (const auto& [said, right] : facts) {
                if (page.contains(said) != right) found.append(said);
            }
            const QString word = stage == LiveStage::off       ? "Off"
                                 : stage == LiveStage::closing ? "Closing…"
                                 : stage == LiveStage::opening ? "Opening…"
                                                               : "Waiting…";
            if (!status.contains(word)) found.append(status);
            if (stage == LiveStage::off && window.canvas().light().isVisible()) found.append("the light");
            return found;
        };
        QCOMPARE(wrong(), QStringList());
        live.press(Qt::Key_Space);
        QVERIFY(window.live().stage() == LiveStage::opening);
        QCOMPARE(wrong(), QStringList());
        QTRY_COMPARE(live.feed.opened(), 1);  // and no picture yet
        QCOMPARE(wrong(), QStringList());
        live.press(Qt::Key_Space);
        QCOMPARE(wrong(), QStringList());
        QTRY_VERIFY(window.live().stage() == LiveStage::off);
        QCOMPARE(wrong(), QStringList());
        live.feed.refuse("The scripted camera is not there: plug it in.");
        live.press(Qt::Key_Space);
        QTRY_VERIFY(window.live().stage() == LiveStage::waiting);
        QVERIFY(live.base.banner().contains("is not there"));
        QCOMPARE(wrong(), QStringList());
    }

    void thePanicKeyWorksBehindADialog() {
        LiveFixture live;
        live.start();
        QVERIFY(live.personShown());
        QTimer::singleShot(0, &live.window(), [] {
            QWidget* dialog = QApplication::activeModalWidget();
            QTest::keyClick(dialog, Qt::Key_F8);
            dialog->close();
        });
        live.window().actions()[ActionId::shortcuts]->trigger();  // returns when its dialog is closed
        QVERIFY(live.window().actions()[ActionId::hidePerson]->isChecked());
        QTRY_VERIFY(live.backgroundShown());
    }

    void thePanicKeyWorksWhileAMenuIsOpen() {
        LiveFixture live;
        live.start();
        QVERIFY(live.personShown());
        QMenu menu(&live.window());
        menu.addAction("An entry");
        menu.popup(live.window().geometry().center());
        QTRY_COMPARE(QApplication::activePopupWidget(), &menu);
        QTest::keyClick(&menu, Qt::Key_F8);
        QVERIFY(live.window().actions()[ActionId::hidePerson]->isChecked());
        QTRY_VERIFY(live.backgroundShown());
    }

    void hiddenStaysHiddenOverAStop() {
        LiveFixture live;
        live.press(Qt::Key_F8);
        live.press(Qt::Key_Space);
        live.feed.push(160, 120);
        QTRY_VERIFY(live.window().canvas().liveShown());
        live.pushThrough();
        QVERIFY(live.backgroundShown() && live.window().canvas().personHidden());
    }

    void aLostSourceIsToldAndComesBackByItself() {
        LiveFixture live;
        live.start();
        const QColor good = live.shown();
        const CameraLight& light = live.window().canvas().light();
        live.feed.refuse("The camera was unplugged: plug it in again.");
        live.feed.lose("The camera was unplugged: plug it in again.");
        QTRY_VERIFY(live.base.hasError());
        QVERIFY(live.base.banner().contains("unplugged"));
        QTRY_VERIFY(light.text().isEmpty() && !light.isVisible());  // nobody is filmed now
        QVERIFY(live.window().live().isOn());
        QCOMPARE(live.shown(), good);
        live.feed.refuse("");
        QTRY_COMPARE(live.feed.opened(), 2);
        QTRY_VERIFY(light.isVisible() && light.text().contains("Camera on"));  // as it is, though no picture came yet
        QVERIFY(live.base.hasError());
        live.showNext();
        QTRY_VERIFY(!live.base.hasError());
        QVERIFY(live.base.banner().contains("is back"));
        QVERIFY(live.personShown());
        QVERIFY(light.isVisible());
    }

    void whatIsStillWrongIsToldAgainAfterAnotherMessage() {
        LiveFixture live;
        live.start();
        live.feed.refuse("The camera was unplugged: plug it in again.");
        live.feed.lose("The camera was unplugged: plug it in again.");
        QTRY_VERIFY(live.base.hasError());
        Banner& banner = live.window().canvas().banner();
        banner.showDone("Saved it.");
        QVERIFY(!live.base.hasError());
        banner.dismiss();
        QVERIFY(live.base.hasError() && live.base.banner().contains("unplugged"));
        live.press(Qt::Key_Escape);  // that was an answer
        QVERIFY(!banner.isVisible());
    }

    void aCameraThatIsPluggedInIsLookedForAtOnce() {
        LiveFixture live;
        live.start();
        live.feed.refuse("The camera was unplugged: plug it in again.");
        live.feed.lose("The camera was unplugged: plug it in again.");
        QTRY_VERIFY(live.base.hasError());
        // By itself it looks once a second: too seldom for so many.
        const auto looksAgain = [&, before = live.feed.refusals()] {
            live.window().liveControl().setCameras({});
            return live.feed.refusals() >= before + 60;
        };
        QTRY_VERIFY_WITH_TIMEOUT(looksAgain(), 30'000);
        live.feed.refuse("");
        live.window().liveControl().setCameras({});
        QTRY_COMPARE(live.feed.opened(), 2);
    }

    void aSourceThatDoesNotComeLeavesTheBackgroundThatIsChosenNow() {
        LiveFixture live;
        live.start();
        QVERIFY(!live.window().live().status().source.name.empty());
        CompositeParams params = live.window().document().params();
        params.background.color = {200, 20, 20};
        live.feed.refuse("The camera is used by another program: close it.");
        live.window().document().edit(params, ParamControl::color);
        live.window().liveControl().play("test:person:640x480");
        QTRY_VERIFY(live.base.hasError());
        QTRY_COMPARE(live.shown(), QColor(200, 20, 20));
        QVERIFY(live.window().live().status().source.name.empty());
    }

    void anEngineThatThrowsIsToldAndGoesOn() {
        LiveFixture live;
        live.start();
        live.script.failTakes = 1;
        live.feed.push(160, 120);
        QTRY_VERIFY(live.base.hasError());
        QVERIFY(live.base.banner().contains("scripted engine broke"));
        live.showNext();
        QVERIFY(live.personShown());
        QTRY_VERIFY(!live.base.hasError());
        QVERIFY(!live.base.banner().contains("is back"));  // the camera was never away
    }

    void aDeviceThatIsLostIsToldOnce() {
        LiveFixture live;
        live.start();
        live.script.lostDevice = true;
        const auto showSome = [&] {  // how an engine is, is asked a few times a second
            const int before = live.script.asked;
            QTRY_VERIFY((live.showNext(), live.script.asked > before));
            live.pushThrough();
        };
        showSome();
        QTRY_VERIFY(live.base.hasError());
        QCOMPARE(live.base.banner(),
                 "The scripted device is lost. The processor goes on in its place, which is slower.");
        live.press(Qt::Key_Escape);
        showSome();
        live.press(Qt::Key_Space);
        live.start();
        showSome();
        QVERIFY(!live.base.hasError());
    }

    void anEngineThatNeverHadADeviceIsNoNews() {
        LiveFixture live;
        live.script.lostDevice = true;
        live.start();
        QCOMPARE(live.window().live().status().engine.reason, "The scripted device is lost.");
        QVERIFY(!live.base.hasError());
    }

    void anEngineThatCantBeMadeIsToldWithEverySource() {
        LiveFixture live;
        live.script.failMaking = true;
        live.press(Qt::Key_Space);
        QTRY_VERIFY(live.base.hasError());
        live.window().liveControl().play("test:person");
        QTRY_VERIFY(live.base.hasError());  // though it is the same sentence
        live.press(Qt::Key_Space);
        live.press(Qt::Key_Escape);
        QVERIFY(!live.base.hasError());
        live.press(Qt::Key_Space);
        QTRY_VERIFY(live.base.hasError());
        live.press(Qt::Key_Space);
        live.script.failMaking = false;
        live.press(Qt::Key_Space);
        QTRY_VERIFY(!live.base.hasError());
    }

    void aFileThatCantBeReadEndsTheRun() {
        LiveFixture live;
        live.base.startup.open = LiveSession::openNamed;
        live.base.restart();
        const QString file = writeText(live.base.folder / "clip.mp4", "none");
        live.window().liveControl().play(file);
        QTRY_VERIFY(live.base.hasError());
        QVERIFY(live.base.banner().contains("clip.mp4"));
        QVERIFY(!live.window().live().isOn());  // it will not come back by itself
        QVERIFY(live.window().canvas().livePage().text().contains("Space starts"));
        std::filesystem::remove(file.toStdString());
        live.press(Qt::Key_Space);
        QTRY_VERIFY(live.base.hasError() && live.base.banner().contains("There is no file"));
    }

    void theLightStaysWithACameraUntilItIsClosed() {
        LiveFixture live;
        std::promise<void> closed;
        live.base.startup.open = [&live, ready = closed.get_future().share()](
                                     const SourceSpec& spec, const CaptureSettings&,
                                     const std::stop_token&) -> std::unique_ptr<FrameSource> {
            if (spec.kind == SourceSpec::Kind::camera) return std::make_unique<SlowToClose>(live.feed.open(), ready);
            return live.feed.open();
        };
        live.base.restart();
        const CameraLight& light = live.window().canvas().light();
        live.press(Qt::Key_Space);
        QTRY_VERIFY(light.text().contains("Camera on"));
        live.window().liveControl().play("test:person");
        QVERIFY(light.isVisible() && light.text().contains("Camera on"));
        closed.set_value();
        QTRY_VERIFY(light.isVisible() && !light.text().contains("Camera on"));
    }

    void aTraceThatCantBeWrittenIsToldAndNotRecorded() {
        LiveFixture live;
        live.start();
        const HomeFolder none("/no/such/folder");
        live.press(Qt::Key_T, Qt::ControlModifier);
        QVERIFY(live.base.hasError());
        QVERIFY(!live.window().actions()[ActionId::trace]->isChecked());
    }

    void tracesTakenAtOnceDoNotOverwriteEachOther() {
        LiveFixture live;
        live.start();
        const QString folder = QString::fromStdString(live.base.folder.path().string());
        const HomeFolder home(folder.toLocal8Bit());
        for (int i = 0; i < 6; ++i) live.press(Qt::Key_T, Qt::ControlModifier);
        QTRY_COMPARE(QDir(folder).entryList({"matte-trace-*.json"}).size(), 3);
    }

    void anEngineThatCantBeMadeLeavesTheBackground() {
        LiveFixture live;
        live.script.failMaking = true;
        live.press(Qt::Key_Space);
        live.feed.push(160, 120);
        QTRY_VERIFY(live.base.hasError());
        QTRY_VERIFY(live.backgroundShown());
    }

    void keysAreAnsweredWhileTheEngineStalls() {
        LiveFixture live;
        live.start();
        live.script.take.close();  // what waited for the engine would wait for ever
        live.feed.push(160, 120);
        QTRY_COMPARE(live.script.submitted.load(), 2);
        bool mirrored = live.window().document().params().transform.mirrored;
        for (int i = 0; i < 10; ++i) {
            live.press(Qt::Key_M);
            mirrored = !mirrored;
            QCOMPARE(live.window().document().params().transform.mirrored, mirrored);
            WindowFixture::flushEvents();
        }
        live.press(Qt::Key_Space);
        QVERIFY(!live.window().live().isOn());
    }

    void framesMayChangeTheirSize() {
        LiveFixture live;
        live.start();
        for (const Size size : {Size{64, 120}, Size{320, 180}, Size{161, 91}, Size{160, 120}}) {
            live.showNext(size.width, size.height);
            QVERIFY(live.personShown());
        }
    }

    void aLostContextIsFilledAgain() {
        LiveFixture live;
        live.start();
        const QColor good = live.shown();
        QWidget* canvas = &live.window().canvas();
        QWidget* home = canvas->parentWidget();
        canvas->setParent(nullptr);  // Qt makes a new context for another window
        canvas->show();
        QTRY_COMPARE(live.shown(), good);
        live.showNext();
        QVERIFY(live.personShown());
        canvas->setParent(home);
    }

    /// The source would be silent for ever.
    void closingWhileTheSourceIsSilentEnds() {
        LiveFixture live;
        QTest::keyClick(&live.window(), Qt::Key_Space);
        QTRY_COMPARE(live.feed.opened(), 1);
        live.window().close();
        live.base.window.reset();  // waits for the threads
        QCOMPARE(live.feed.closed(), 1);
    }
};

int runLiveFaultTests(int argc, char** argv) {
    LiveFaultTest test;
    return QTest::qExec(&test, argc, argv);
}

}  // namespace matte::test

#include "live_fault_test.moc"
