// SPDX-License-Identifier: Apache-2.0
// What is seen of a live run beside the picture: the overlay's figures, snapshots, the full screen and the small
// window.
#include <QAction>
#include <QDir>
#include <QFile>
#include <QFontMetrics>
#include <QImage>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QSignalSpy>
#include <QSlider>
#include <QTest>
#include <QThreadPool>

#include <algorithm>
#include <cmath>

#include "gui/app/headless_run.h"
#include "gui/live/camera_light.h"
#include "gui/live/live_control.h"
#include "gui/live/live_page.h"
#include "gui/live/recorder.h"
#include "gui/panels/params_panel.h"
#include "gui/timing/timing_chart.h"
#include "gui/timing/timing_overlay.h"
#include "gui/timing/timing_text.h"
#include "gui/widgets/slider_row.h"
#include "gui/window/canvas.h"
#include "gui/window/compact_window.h"
#include "gui/window/status_line.h"
#include "tests/gui/groups.h"
#include "tests/gui/live_fixture.h"

namespace matte::test {
namespace {

/// What of the page is cut off or lies over something else; empty when every part that is seen is seen whole.
QString crampedPart(const LivePage& page) {
    QList<QRect> taken;
    for (const QWidget* part : page.findChildren<QWidget*>()) {
        if (!part->isVisible() || !part->findChildren<QWidget*>().isEmpty()) continue;
        const QRect place(part->mapTo(&page, QPoint()), part->size());
        const bool wraps = part->hasHeightForWidth();
        const QSize hint = part->minimumSizeHint();
        const QSize least = wraps ? QSize(0, part->heightForWidth(part->width())) : hint;
        const auto* label = qobject_cast<const QLabel*>(part);
        const QString name = label ? label->text() : part->objectName();
        if (!page.rect().contains(place)) return name + " lies outside";
        if (least.width() > part->width() || least.height() > part->height()) return name + " is cut off";
        for (const QRect& other : taken) {
            if (other.intersects(place)) return name + " lies over something";
        }
        taken.append(place);
    }
    return {};
}

LiveSource longNamed() {
    LiveSource source;
    source.spec.name = "A camera with a name that is far too long for a window of any size, as some of them have it";
    return source;
}

}  // namespace

class LiveViewTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void theHardwaresLimitIsMeasuredWhenTheOverlayIsFirstShown() {
        LiveFixture live;
        live.start();
        live.showNext();
        QCOMPARE(live.script.rateSteps.load(), 0);  // never before
        const auto details = [&] { return layerDetails(live.window().liveControl().report().statistics, 1).join(' '); };
        live.press(Qt::Key_F3);
        live.showNext();
        QTRY_VERIFY(details().contains("of the hardware's limit"));
        QTRY_VERIFY(!details().contains(QString("– of")));
        // The head's 10 flops and 5 bytes at a million a second each: 0.01 ms of its 0.5.
        QVERIFY2(details().contains("2.0 % of the hardware's limit"), qPrintable(details()));
        QVERIFY(details().contains("4 -> 1") && details().contains("loop") && details().contains("GFLOP/s"));
        QVERIFY(limitText(live.window().liveControl().report().statistics).contains("GFLOP/s"));
        live.press(Qt::Key_F3);
        live.press(Qt::Key_F3);
        live.showNext();
        QCOMPARE(live.script.rateSteps.load(), 3);  // once
    }

    void theStartPageFitsWindowsOfEverySize_data() {
        QTest::addColumn<QSize>("size");
        QTest::addColumn<int>("facts");
        QTest::newRow("small window") << QSize(400, 225) << 0;
        QTest::newRow("least") << QSize(160, 90) << 0;
        QTest::newRow("narrow") << QSize(250, 600) << 2;
        QTest::newRow("high") << QSize(340, 700) << 2;
        QTest::newRow("large") << QSize(1000, 700) << 2;
    }
    void theStartPageFitsWindowsOfEverySize() {
        QFETCH(QSize, size);
        QFETCH(int, facts);
        LiveFixture live;
        MainWindow& window = live.window();
        const LivePage& page = window.canvas().livePage();
        QCOMPARE(crampedPart(page), QString());
        window.actions()[ActionId::corner]->trigger();
        window.resize(size);
        QTRY_COMPARE(page.size(), size);
        QCOMPARE(crampedPart(page), QString());
        const auto shown = [&](const QString& text) {
            const QList<QLabel*> labels = page.findChildren<QLabel*>();
            return std::ranges::count_if(
                labels, [&](const QLabel* label) { return label->isVisible() && label->text().contains(text); });
        };
        QCOMPARE(int(shown("No camera was found") + shown("Nothing leaves this computer")), facts);
        window.liveControl().choose(longNamed());
        QCOMPARE(crampedPart(page), QString());
        live.press(Qt::Key_Space);
        QTRY_VERIFY(shown("Opening") == 1 || size.width() < 200);
        QCOMPARE(crampedPart(page), QString());
        QVERIFY(page.text().contains("Opening " + nameOf(longNamed())));  // for those who hear it
        window.liveControl().stop();
        window.actions()[ActionId::corner]->trigger();
        QTRY_COMPARE(int(shown("No camera was found")), 1);
        QCOMPARE(crampedPart(page), QString());
    }

    void thatThePersonIsHiddenIsReadInWindowsOfEverySize() {
        LiveFixture live;
        MainWindow& window = live.window();
        const LivePage& page = window.canvas().livePage();
        const QLabel& mark = *window.canvas().findChild<QLabel*>("hiddenMark");
        live.press(Qt::Key_F8);
        window.actions()[ActionId::corner]->trigger();
        for (const QSize size : {QSize(400, 225), QSize(300, 200), QSize(160, 90)}) {
            window.resize(size);
            QTRY_COMPARE(page.size(), size);
            QVERIFY(mark.isVisible() && mark.text().startsWith("You are hidden."));
            QVERIFY(page.rect().contains(mark.geometry()));
            QVERIFY(mark.height() >= mark.heightForWidth(mark.width()));
            QCOMPARE(crampedPart(page), QString());
            for (const QPushButton* button : page.findChildren<QPushButton*>()) {
                const QRect place(button->mapTo(&window.canvas(), QPoint()), button->size());
                QVERIFY(!button->isVisible() || !place.intersects(mark.geometry()));
            }
        }
        window.actions()[ActionId::corner]->trigger();
        QTRY_VERIFY(mark.text().contains("shows you again"));
    }

    void theOverlayWaitsForAWindowWithRoomForIt() {
        LiveFixture live;
        live.start();
        live.press(Qt::Key_F3);
        live.press(Qt::Key_F8);
        const Canvas& canvas = live.window().canvas();
        const QWidget& overlay = live.window().canvas().timing();
        const auto* mark = canvas.findChild<QLabel*>("hiddenMark");
        QVERIFY(overlay.isVisible() && !overlay.geometry().intersects(mark->geometry()));
        live.window().actions()[ActionId::corner]->trigger();
        QTRY_VERIFY(live.window().width() < 500);
        QVERIFY(!overlay.isVisible() && canvas.rect().contains(mark->geometry()));
        live.window().actions()[ActionId::corner]->trigger();
        QTRY_VERIFY(overlay.isVisible());
    }

    void theSmallWindowIsLeftByADoubleClickOnItsStartPage() {
        LiveFixture live;
        live.window().actions()[ActionId::corner]->trigger();
        QTRY_VERIFY(live.window().width() < 500);
        QTest::mouseDClick(&live.window().canvas().livePage(), Qt::LeftButton, {}, QPoint(5, 5));
        QVERIFY(!live.window().compact().inCorner());
    }

    void whatIsNotKnownOfALayerIsADash() {
        LiveStatistics statistics;
        QVERIFY(layerDetails(statistics, 0).isEmpty());
        statistics.layers = {{"down1", "3 -> 4", "loop", 100, 10}};
        statistics.layerMs = {{"down1", 1, {1, 1, 1, 1, 1}}};
        statistics.frame.ms.p50 = 4;
        QVERIFY(layerDetails(statistics, 0)[1].contains("25 % of the frame, – of the hardware's limit"));
        QVERIFY(limitText(statistics).contains("not measured yet"));
        statistics.rates = MachineRates{};
        QVERIFY(layerDetails(statistics, 0)[1].contains("– of the hardware's limit"));
        QVERIFY(limitText(statistics).contains("not known"));
    }

    void everyStageIsDrawnHoweverManyThereAre() {
        const auto drawn = [](float present) {
            TimingView view;
            LiveStatistics& statistics = view.report.statistics;
            for (int i = 0; i < 13; ++i) {
                StageStatistics stage;
                stage.name = "stage " + std::to_string(i);
                stage.ms.p50 = 1;
                stage.ms.samples = 1;
                statistics.stages.push_back(stage);
            }
            statistics.present.name = "present";  // the last
            statistics.present.ms.p50 = present;
            QImage image(900, timingHeight(false), QImage::Format_ARGB32_Premultiplied);
            image.fill(Qt::black);
            QPainter painter(&image);
            QFont font = painter.font();
            font.setPixelSize(12);
            painter.setFont(font);
            paintTiming(painter, image.size(), view);
            return image.copy(TimingLayout(image.size()).stages);
        };
        QVERIFY(drawn(0.25F) != drawn(0.75F));
    }

    void timesHaveNoMoreDigitsThanThereIsRoomFor() {
        QCOMPARE(milliseconds(0.2531), "0.253 ms");
        QCOMPARE(milliseconds(99.94), "99.9 ms");
        QCOMPARE(milliseconds(123.4), "123 ms");
        QFont font;
        font.setPixelSize(12);
        const QFontMetrics metrics(font);
        const QString figures = percentiles(181.4, 388.4);
        QCOMPARE(figures, "p95 181   p99 388 ms");
        const int room = TimingLayout({860, timingHeight(false)}).latency.width();  // as in a window on a small screen
        QVERIFY(metrics.horizontalAdvance(figures) + metrics.horizontalAdvance("500 ms") + 8 <= room);
    }

    void theOverlayIsComparedWithFramesBeforeItOnly() {
        LiveReport report;
        LiveStatistics& statistics = report.statistics;
        TimingOverlay overlay(nullptr);
        overlay.setReport([&] { return report; });
        const auto frames = [&](int count, float ms) {
            for (int i = 0; i < count; ++i) {
                ++statistics.framesOut;
                statistics.frame.newest = ms;
                statistics.frame.ms.samples = std::min<std::size_t>(statistics.framesOut, Recent::kSamples);
                overlay.refresh();
            }
        };
        frames(600, 10);
        statistics.frame.ms.p50 = 10;  // of all that is remembered, for long after the overlay came
        overlay.show();
        QCOMPARE(overlay.cost().frameOffMs, 10.0F);
        frames(59, 14);
        QCOMPARE(overlay.cost().frameOnMs, 0.0F);  // too few to tell
        frames(1, 14);
        QCOMPARE(overlay.cost().frameOnMs, 14.0F);
        overlay.hide();
        frames(100, 10);
        overlay.show();
        QCOMPARE(overlay.cost().frameOffMs, 0.0F);  // most of what is remembered is of frames with it
        overlay.hide();
        frames(600, 10);
        overlay.show();
        QCOMPARE(overlay.cost().frameOffMs, 10.0F);
        statistics.frame.ms.samples = 1;  // another engine
        overlay.refresh();
        QCOMPARE(overlay.cost().frameOffMs, 0.0F);
    }

    void theStatisticsHoldLimitsAndWhatTheProgramTakes() {
        LiveFixture live;
        live.press(Qt::Key_F3);
        const QString file = QString::fromStdString((live.base.folder / "run.json").string());
        HeadlessRun run(live.window(), {.source = LiveSource{}, .frames = 4, .statistics = file});
        QSignalSpy ended(&run, &HeadlessRun::ended);
        run.begin();
        for (int i = 0; i < 3; ++i) live.showNext();
        QTRY_VERIFY(live.window().live().statistics().rates.has_value());
        live.showNext();
        QCOMPARE(ended.count(), 1);
        QFile written(file);
        QVERIFY(written.open(QIODevice::ReadOnly));
        const QJsonObject object = QJsonDocument::fromJson(written.readAll()).object();
        QCOMPARE(object["limit"].toObject()["flopsASecond"].toDouble(), 1e6);
        const double share = object["layers"].toArray()[1].toObject()["shareOfLimit"].toDouble();
        QVERIFY(std::abs(share - 0.02) < 1e-6);
        const QJsonArray marks = object["footprint"].toArray();
        QCOMPARE(marks.size(), 5);  // after each frame, and at the end
        for (const auto mark : marks) {
            QVERIFY(mark.toObject()["residentBytes"].toDouble() > 1e6);
            QVERIFY(mark.toObject()["threads"].toInt() >= 3);  // this one, capture and worker
            QVERIFY(mark.toObject()["fileDescriptors"].toInt() >= 3);
            QVERIFY(mark.toObject()["glObjects"].toInt() >= 4);
        }
        QCOMPARE(marks.last().toObject()["frame"].toInt(), 4);
        QCOMPARE(marks.last().toObject()["glObjects"], marks[1].toObject()["glObjects"]);
    }

    void aSnapshotOfTheCutoutIsNeverSeenInTheWindow() {
        LiveFixture live;
        live.start();
        bool seenThrough = false;
        connect(&live.window().live(), &LiveSession::pictureChanged, &live.window(),
                [&](const LiveSession::Live& shown) { seenThrough |= shown->picture->image()->row(0)[3] != 255; });
        const QString folder = QString::fromStdString((live.base.folder / "").string());
        Recorder& recorder = live.window().recorder();
        QSignalSpy saved(&recorder, &Recorder::saved);
        for (int i = 1; i <= 5; ++i) {
            live.script.take.close();  // so that frames are under way
            live.feed.push();
            live.feed.push();
            recorder.takeCutout(folder);
            live.feed.push();
            live.script.take.open();
            QTRY_COMPARE(saved.count(), i);
            QCOMPARE(QImage(saved[i - 1][0].toString()).pixelColor(2, 2).alpha(), 128);
        }
        live.pushThrough();
        live.showNext();
        QVERIFY(!seenThrough);
        QVERIFY(live.personShown());
    }

    void whoHidesIsInNoFileAMomentLater() {
        LiveFixture live;
        live.start();
        live.script.take.close();
        const QString folder = QString::fromStdString((live.base.folder / "").string());
        QSignalSpy saved(&live.window().recorder(), &Recorder::saved);
        QSignalSpy failed(&live.window().recorder(), &Recorder::failed);
        live.window().recorder().takeCutout(folder);
        QTRY_COMPARE(live.script.submitted.load(), 2);  // the cut-out is under way
        live.press(Qt::Key_F8);
        QTRY_COMPARE(failed.count(), 1);
        QVERIFY(failed[0][0].toString().contains("hidden"));
        live.script.take.open();
        live.pushThrough();
        QThreadPool::globalInstance()->waitForDone();  // where files are written
        WindowFixture::flushEvents();
        QCOMPARE(saved.count(), 0);
        QVERIFY(QDir(folder).entryList({"matte*.png"}).isEmpty());
    }

    void f11FillsTheScreenWithThePictureAloneAndBack() {
        LiveFixture live;
        live.start();
        live.press(Qt::Key_F11);
        QTRY_VERIFY(live.window().isFullScreen());
        QTRY_VERIFY(!live.window().panel().isVisible() && !live.window().status().isVisible());
        QVERIFY(live.window().canvas().light().isVisible());  // who is filmed sees it, however large the picture is
        live.showNext();
        QVERIFY(live.personShown());
        live.press(Qt::Key_F8);
        QTRY_VERIFY(live.backgroundShown());
        QVERIFY(live.window().canvas().personHidden());
        live.press(Qt::Key_F8);
        QTRY_VERIFY(live.personShown());
        live.press(Qt::Key_Escape);
        QTRY_VERIFY(!live.window().isFullScreen());
        QTRY_VERIFY(live.window().panel().isVisible() && live.window().status().isVisible());
        live.showNext();
        QVERIFY(live.personShown());
    }

    void theSmallWindowHidesThePersonToo() {
        LiveFixture live;
        live.start();
        live.press(Qt::Key_F11);
        QTRY_VERIFY(live.window().isFullScreen());
        live.press(Qt::Key_M, Qt::ControlModifier);  // from the full screen into the corner
        QTRY_VERIFY(!live.window().isFullScreen() && live.window().compact().inCorner());
        QVERIFY(QTest::qWaitForWindowActive(&live.window()));
        live.press(Qt::Key_F8);
        QTRY_VERIFY(live.backgroundShown());
        live.pushThrough();
        QVERIFY(live.backgroundShown());
        live.press(Qt::Key_F8);
        QTRY_VERIFY(live.personShown());
        live.press(Qt::Key_Escape);
        QTRY_VERIFY(!live.window().compact().inCorner() && live.window().panel().isVisible());
    }

    void photosLeaveTheSmallWindow() {
        LiveFixture live;
        live.start();
        live.press(Qt::Key_M, Qt::ControlModifier);
        QTRY_VERIFY(live.window().compact().inCorner());
        QVERIFY(QTest::qWaitForWindowActive(&live.window()));
        live.press(Qt::Key_O, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY(!live.window().compact().inCorner());
        QVERIFY(!live.window().actions()[ActionId::corner]->isChecked());
        QTRY_VERIFY(live.window().isVisible() && live.window().panel().isVisible());
    }

    void photosInFullScreenHaveTheirTools() {
        LiveFixture live;
        live.press(Qt::Key_F11);
        QVERIFY(live.window().panel().isHidden());
        live.press(Qt::Key_O, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY(live.window().isFullScreen() && !live.window().panel().isHidden());
    }

    void snapshotsAreWrittenWithAndWithoutBackground() {
        EngineLog log;
        LiveFixture live(fakeEngine(log));
        live.start();
        const QString folder = QString::fromStdString((live.base.folder / "").string());
        Recorder& recorder = live.window().recorder();
        QSignalSpy saved(&recorder, &Recorder::saved);
        recorder.takeSnapshot(folder);
        QTRY_COMPARE(saved.count(), 1);
        QCOMPARE(QImage(saved[0][0].toString()).pixelColor(5, 5), QColor(kBehind.r, kBehind.g, kBehind.b));
        recorder.takeCutout(folder);
        QTRY_COMPARE(saved.count(), 2);
        QCOMPARE(QImage(saved[1][0].toString()).pixelColor(5, 5).alpha(), 128);
        live.showNext();
        QVERIFY(log.lastParams().background.kind == Background::Kind::color);  // the parameters are as they were
        QVERIFY(live.backgroundShown());
    }

    void whoStoppedIsInNoSnapshot() {
        LiveFixture live;
        const Actions& actions = live.window().actions();
        QVERIFY(!actions[ActionId::snapshot]->isEnabled());
        live.start();
        QVERIFY(actions[ActionId::snapshot]->isEnabled() && actions[ActionId::snapshotCutout]->isEnabled());
        const int submitted = live.script.submitted;
        live.press(Qt::Key_Space);
        QVERIFY(!actions[ActionId::snapshot]->isEnabled() && !actions[ActionId::snapshotCutout]->isEnabled());
        QVERIFY(!live.window().live().newest());
        live.window().recorder().takeSnapshot(QString::fromStdString(live.base.folder.path().string()));
        QVERIFY(live.base.hasError() && live.base.banner().contains("start the camera first"));
        live.window().panel().slider(ParamControl::threshold).slider().setValue(40);
        live.start();
        QCOMPARE(live.script.submitted.load(), submitted + 1);  // the last frame was not looked at again
    }

    void snapshotsTakenAtOnceDoNotOverwriteEachOther() {
        LiveFixture live;
        live.start();
        Recorder& recorder = live.window().recorder();
        QSignalSpy saved(&recorder, &Recorder::saved);
        for (int i = 0; i < 3; ++i) recorder.takeSnapshot(QString::fromStdString(live.base.folder.path().string()));
        QTRY_COMPARE(saved.count(), 3);
        QSet<QString> files;
        for (const auto& arguments : saved) files.insert(arguments[0].toString());
        QCOMPARE(files.size(), 3);
        for (const QString& file : files) QVERIFY2(!QImage(file).isNull(), qPrintable(file));
    }

    void theMarkOfTheHiddenIsForTheLivePicture() {
        LiveFixture live;
        live.press(Qt::Key_F8);
        QVERIFY(live.window().canvas().personHidden());
        live.window().setMode(Mode::photo);
        QVERIFY(!live.window().canvas().personHidden());
        live.window().setMode(Mode::live);
        QVERIFY(live.window().canvas().personHidden());  // it still holds
    }

    void thePanelComesBackAsItsButtonSays() {
        LiveFixture live;
        QAction* wanted = live.window().actions()[ActionId::panel];
        for (const bool on : {false, true}) {
            live.press(Qt::Key_F11);
            live.press(Qt::Key_F9);
            live.press(Qt::Key_F11);
            QCOMPARE(wanted->isChecked(), on);
            QCOMPARE(!live.window().panel().isHidden(), on);
        }
    }

    void theSmallWindowIsNotFullScreen() {
        LiveFixture live;
        live.press(Qt::Key_F11);
        live.press(Qt::Key_M, Qt::ControlModifier);
        QVERIFY(live.window().compact().inCorner());
        QVERIFY(!live.window().actions()[ActionId::fullScreen]->isChecked());
    }
};

int runLiveViewTests(int argc, char** argv) {
    LiveViewTest test;
    return QTest::qExec(&test, argc, argv);
}

}  // namespace matte::test

#include "live_view_test.moc"
