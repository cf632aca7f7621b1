// SPDX-License-Identifier: Apache-2.0
// Live mode as a user meets it: start and stop, sources, the parameters, both modes side by side, what is remembered.
#include <QAbstractButton>
#include <QAction>
#include <QButtonGroup>
#include <QDropEvent>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>
#include <QSignalSpy>
#include <QSlider>
#include <QTest>
#include <QToolButton>
#include <QUrl>

#include "gui/live/camera_light.h"
#include "gui/live/live_control.h"
#include "gui/live/live_page.h"
#include "gui/live/source_picker.h"
#include "gui/panels/gallery.h"
#include "gui/panels/params_panel.h"
#include "gui/photo/photo_control.h"
#include "gui/timing/timing_overlay.h"
#include "gui/widgets/slider_row.h"
#include "gui/widgets/toggle.h"
#include "gui/window/canvas.h"
#include "gui/window/compact_window.h"
#include "gui/window/status_line.h"
#include "gui/window/viewport.h"
#include "gui/window/window_bars.h"
#include "tests/gui/groups.h"
#include "tests/gui/live_fixture.h"

namespace matte::test {
namespace {

CameraInfo camera(const std::string& name) {
    return {
        "id-" + name,
        name,
        {{Encoding::mjpg, {1280, 720}, {60, 30}}, {Encoding::yuyv, {640, 480}, {30}}, {Encoding::other, {8, 8}, {}}}};
}

LiveSource testPerson() {
    LiveSource source;
    source.spec.kind = SourceSpec::Kind::test;
    return source;
}

QAction* entry(const QMenu& menu, const QString& text) {
    for (QAction* action : menu.actions()) {
        if (action->text().contains(text)) return action;
        if (!action->menu()) continue;
        if (QAction* found = entry(*action->menu(), text)) return found;
    }
    return nullptr;
}

}  // namespace

class LiveTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void spaceStartsAndStops() {
        LiveFixture live;
        Canvas& canvas = live.window().canvas();
        QVERIFY(canvas.livePage().isVisible() && canvas.light().text().isEmpty());
        live.start();
        QVERIFY(!canvas.livePage().isVisible());
        QVERIFY(live.personShown());
        QVERIFY(canvas.light().isVisible() && canvas.light().text().contains("Camera on"));
        QTRY_VERIFY(live.window().status().text().contains("160 × 120"));
        QTRY_VERIFY(live.window().status().text().contains("Scripted engine"));
        live.press(Qt::Key_Space);
        QVERIFY(canvas.livePage().isVisible());
        QTRY_VERIFY(!canvas.light().isVisible());  // once the camera is closed
        QVERIFY(live.window().live().status().state == LiveStatus::State::stopped);
        live.press(Qt::Key_L, Qt::ControlModifier);
        QVERIFY(live.window().live().isOn());
        QCOMPARE(live.script.made.load(), 1);  // the engine is kept
    }

    void startingFromPhotoModeEntersLiveMode() {
        LiveFixture live;
        live.window().setMode(Mode::photo);
        live.press(Qt::Key_L, Qt::ControlModifier);
        QVERIFY(live.window().liveControl().mode() == Mode::live);
        live.showNext();
        QVERIFY(live.personShown());
    }

    void bothModesKeepWhatTheyHave() {
        LiveFixture live;
        live.window().setMode(Mode::photo);
        live.base.open();
        live.window().panel().slider(ParamControl::threshold).slider().setValue(40);
        const QColor photo = live.shown();
        live.press(Qt::Key_L, Qt::ControlModifier);
        live.showNext();
        QVERIFY(live.personShown());
        live.window().actions()[ActionId::photoMode]->trigger();
        QVERIFY(!live.window().live().isOn());  // the camera is off
        QVERIFY(live.window().document().isOpen());
        QTRY_COMPARE(live.shown(), photo);
        QVERIFY(live.window().document().undoStack().canUndo());
        QVERIFY(live.window().status().text().contains("photo.png"));
        live.window().actions()[ActionId::liveMode]->trigger();
        QVERIFY(live.window().canvas().livePage().isVisible());  // off until it is started
    }

    void aPhotoThatComesLateLeavesTheLivePicture() {
        LiveFixture live;
        MainWindow& window = live.window();
        window.setMode(Mode::photo);
        live.base.log.cutOut.close();
        window.photos().open(PhotoSource::fromFile(live.base.photo));
        QTRY_COMPARE(live.base.log.cutOuts.load(), 1);
        live.press(Qt::Key_L, Qt::ControlModifier);
        live.showNext();
        live.base.log.cutOut.open();
        QTRY_VERIFY(window.document().isOpen());
        QVERIFY(live.base.banner().contains("photo.png is open, under Photo"));
        QVERIFY(window.liveControl().mode() == Mode::live && window.live().isOn() && live.personShown());
        QTRY_VERIFY(window.status().text().contains("160 × 120"));
        window.actions()[ActionId::photoMode]->trigger();
        QVERIFY(window.status().text().contains("photo.png"));
        QTRY_COMPARE(live.shown(), QColor(kBehind.r, kBehind.g, kBehind.b));
    }

    void aPhotoThatIsOpenedLiveEndsTheLivePicture() {
        LiveFixture live;
        live.start();
        live.base.open();
        QVERIFY(live.window().liveControl().mode() == Mode::photo && !live.window().live().isOn());
    }

    void everyControlReachesTheParamsAndCanBeUndone() {
        LiveFixture live;
        live.start();
        ParamsPanel& panel = live.window().panel();
        const auto params = [&] { return live.window().document().params(); };
        const CompositeParams before = params();
        QVERIFY(before.transform.mirrored);  // a camera is a mirror
        QTest::mouseClick(&panel.toggle(ParamControl::mirror), Qt::LeftButton);
        QTest::mouseClick(&panel.toggle(ParamControl::smallRegions), Qt::LeftButton);
        QTest::mouseClick(&panel.toggle(ParamControl::nearest), Qt::LeftButton);
        QTest::mouseClick(&panel.toggle(ParamControl::detail), Qt::LeftButton);
        panel.slider(ParamControl::temporalSmoothing).slider().setValue(20);
        panel.slider(ParamControl::lightWrap).slider().setValue(35);
        panel.slider(ParamControl::scale).slider().setValue(150);
        panel.slider(ParamControl::across).slider().setValue(-25);
        panel.slider(ParamControl::down).slider().setValue(10);
        QVERIFY(!params().transform.mirrored && !params().removeSmallRegions && params().nearestOnly &&
                params().fineDetail);
        QCOMPARE(params().temporalSmoothing, 0.2F);
        QCOMPARE(params().lightWrap, 0.35F);
        QCOMPARE(params().transform.scale, 1.5F);
        QCOMPARE(params().transform.x, -0.25F);
        QCOMPARE(params().transform.y, 0.1F);
        while (live.window().document().undoStack().canUndo()) live.press(Qt::Key_Z, Qt::ControlModifier);
        QVERIFY(params() == before);
        QVERIFY(panel.toggle(ParamControl::mirror).isChecked() && panel.slider(ParamControl::scale).value() == 100);
    }

    void fineDetailIsOfferedByTheEngineThatRuns() {
        LiveFixture live;
        Toggle& detail = live.window().panel().toggle(ParamControl::detail);
        QVERIFY(detail.isEnabled());
        live.script.fineDetail = false;
        live.start();
        QTRY_VERIFY(!detail.isEnabled());
        live.window().actions()[ActionId::photoMode]->trigger();
        live.window().actions()[ActionId::liveMode]->trigger();
        QVERIFY(!detail.isEnabled());
        live.press(Qt::Key_H);
        QVERIFY(!live.window().document().params().fineDetail);
    }

    void keysTurnPartsOfTheParamsOnAndOff() {
        LiveFixture live;
        const auto params = [&] { return live.window().document().params(); };
        const CompositeParams before = params();
        for (int round = 0; round < 2; ++round) {
            for (const int key : {Qt::Key_M, Qt::Key_T, Qt::Key_K, Qt::Key_N, Qt::Key_H, Qt::Key_D}) live.press(key);
            const bool off = round == 0;
            QCOMPARE(params().transform.mirrored, off != before.transform.mirrored);
            QCOMPARE(params().temporalSmoothing, off ? 0.0F : before.temporalSmoothing);
            QCOMPARE(params().removeSmallRegions, off != before.removeSmallRegions);
            QCOMPARE(params().nearestOnly, off != before.nearestOnly);
            QCOMPARE(params().fineDetail, off != before.fineDetail);
            QCOMPARE(params().decontaminate, off != before.decontaminate);
        }
        live.press(Qt::Key_W);
        QVERIFY(params().lightWrap > 0);
        live.press(Qt::Key_W);
        QCOMPARE(params().lightWrap, 0.0F);
        live.window().panel().slider(ParamControl::scale).slider().setValue(200);
        live.press(Qt::Key_R);
        QCOMPARE(params().transform.scale, 1.0F);
        QCOMPARE(params().transform.mirrored, before.transform.mirrored);
    }

    void shiftMovesAndScalesThePerson() {
        LiveFixture live;
        live.start();
        Viewport& viewport = live.window().canvas().viewport();
        const QPoint middle = viewport.rect().center();
        QTest::mousePress(&viewport, Qt::LeftButton, Qt::ShiftModifier, middle);
        for (int step = 1; step <= 3; ++step) QTest::mouseMove(&viewport, middle + QPoint(20 * step, 0));
        QTest::mouseRelease(&viewport, Qt::LeftButton, Qt::ShiftModifier, middle + QPoint(60, 0));
        const double shownWidth = 160 * viewport.zoom() / viewport.devicePixelRatioF();
        const Document& document = live.window().document();
        QVERIFY(std::abs(document.params().transform.x - 60 / shownWidth) < 0.02);
        QCOMPARE(document.undoStack().count(), 1);
        QWheelEvent wheel(QPointF(middle), viewport.mapToGlobal(QPointF(middle)), {}, {0, 120}, Qt::NoButton,
                          Qt::ShiftModifier, Qt::NoScrollPhase, false);
        const QSignalSpy rested(&viewport, &Viewport::personLetGo);
        for (int i = 0; i < 3; ++i) QCoreApplication::sendEvent(&viewport, &wheel);
        QVERIFY(document.params().transform.scale > 1.1F);
        QCOMPARE(document.undoStack().count(), 2);
        QTRY_COMPARE(rested.count(), 1);
        QCoreApplication::sendEvent(&viewport, &wheel);
        QCOMPARE(document.undoStack().count(), 3);
    }

    void theButtonSaysWhatItDoes() {
        LiveFixture live;
        const auto says = [&](const QString& words) {
            const auto buttons = live.window().findChildren<QToolButton*>("primary");
            return std::any_of(buttons.begin(), buttons.end(), [&](auto* b) { return b->text().trimmed() == words; });
        };
        for (int i = 0; i < 2; ++i) {
            QVERIFY(says("Start") && !says("Stop"));
            live.press(Qt::Key_Space);
            QVERIFY(says("Stop") && !says("Start"));
            live.press(Qt::Key_Space);
        }
        QVERIFY(says("Start"));
    }

    void aDragOfThePersonEndsWithTheLiveView() {
        LiveFixture live;
        live.start();
        Viewport& viewport = live.window().canvas().viewport();
        const QPoint middle = viewport.rect().center(), below = middle + QPoint(0, 40);
        QTest::mousePress(&viewport, Qt::LeftButton, Qt::ShiftModifier, middle);
        live.press(Qt::Key_O, Qt::ControlModifier | Qt::ShiftModifier);  // to a photo, of which there is none
        QMouseEvent move(QEvent::MouseMove, below, viewport.mapToGlobal(below), Qt::NoButton, Qt::LeftButton,
                         Qt::ShiftModifier);
        QCoreApplication::sendEvent(&viewport, &move);
        const SubjectTransform transform = live.window().document().params().transform;
        QCOMPARE(transform.x, 0.0F);
        QCOMPARE(transform.y, 0.0F);
    }

    void theParamsReachTheLiveEngine() {
        EngineLog log;
        LiveFixture live(fakeEngine(log));
        live.start();
        QTRY_VERIFY(live.backgroundShown());  // the fake engine's picture is all background
        live.window().panel().kinds().button(int(Background::Kind::blur))->click();
        QTRY_COMPARE(live.shown(), QColor(50, 50, 50));  // the last frame again, without a new one
        QVERIFY(log.lastParams().transform.mirrored);
    }

    void sourcesAreChosenFromTheMenu() {
        LiveFixture live;
        live.window().liveControl().setCameras({camera("Desk"), camera("Desk (2)")});
        SourcePicker& picker = live.window().bars().sources();
        QVERIFY(live.window().canvas().livePage().text().contains("Desk, Desk (2)"));
        entry(*picker.menu(), "Desk (2)")->trigger();
        QVERIFY(picker.text().contains("Desk (2)"));
        Q_EMIT picker.menu()->aboutToShow();
        QVERIFY(entry(*picker.menu(), "Automatic")->isChecked());
        QVERIFY(!entry(*picker.menu(), "8 × 8"));  // it can't be read
        entry(*picker.menu(), "30 a second")->trigger();
        const LiveSource& source = live.window().settings().live.source;
        QVERIFY(source.encoding == Encoding::mjpg && source.rate == 30 && (source.size == Size{1280, 720}));
        QVERIFY(source.spec.name == "Desk (2)");
        Q_EMIT picker.menu()->aboutToShow();
        entry(*picker.menu(), "Test person  640")->trigger();
        QVERIFY(source.spec.kind == SourceSpec::Kind::test);
        QVERIFY(!live.window().document().params().transform.mirrored);  // what is no camera is no mirror
        live.window().liveControl().setCameras({});
        QVERIFY(live.window().canvas().livePage().text().contains("No camera was found"));
    }

    void thePasswordOfAnAddressIsKeptAndNotShown() {
        LiveFixture live;
        live.window().liveControl().play("rtsp://me:secret@camera.local/stream");
        QCOMPARE(live.window().settings().live.source.spec.name, "rtsp://me:secret@camera.local/stream");
        const SourcePicker& picker = live.window().bars().sources();
        QVERIFY(picker.toolTip().contains("rtsp://camera.local/stream"));
        for (const QWidget* part : live.window().findChildren<QWidget*>()) {
            for (const char* said : {"text", "toolTip", "accessibleName"}) {
                QVERIFY2(!part->property(said).toString().contains("secret"), part->metaObject()->className());
            }
        }
    }

    void theFormatOfTheFirstCameraIsMarked() {
        LiveFixture live;
        live.window().liveControl().setCameras({camera("Desk")});
        const QMenu& menu = *live.window().bars().sources().menu();
        QVERIFY(entry(menu, "Desk")->isChecked());
        QVERIFY(entry(menu, "Automatic")->isChecked());
    }

    void theMenuOfSourcesDoesNotGrow() {
        LiveFixture live;
        live.window().liveControl().setCameras({camera("Desk")});
        const QMenu& menu = *live.window().bars().sources().menu();
        const auto parts = [&menu] {
            QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
            return menu.findChildren<QObject*>().size();
        };
        const auto before = parts();
        for (int i = 0; i < 5; ++i) live.window().liveControl().setCameras({camera("Desk")});
        QCOMPARE(parts(), before);
    }

    void aNewSourceStartsAtOnceWhenOneIsOn() {
        LiveFixture live;
        live.start();
        const int opened = live.feed.opened();
        live.window().liveControl().play("test:person:640x480");
        QTRY_COMPARE(live.feed.opened(), opened + 1);
        QVERIFY(live.window().live().isOn());
        QTRY_VERIFY(!live.window().canvas().light().text().contains("Camera on"));  // what plays is no camera
    }

    void aDroppedPictureGoesBehindAndAVideoIsPlayed() {
        LiveFixture live;
        const auto drop = [&](const QString& path) {
            QMimeData data;
            data.setUrls({QUrl::fromLocalFile(path)});
            QDragEnterEvent enter({9, 9}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
            QCoreApplication::sendEvent(&live.window(), &enter);
            QDropEvent event(QPointF(9, 9), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
            QCoreApplication::sendEvent(&live.window(), &event);
        };
        drop(writePhoto(live.base.folder / "wall.png"));
        QTRY_VERIFY(live.window().document().params().background.kind == Background::Kind::image);
        QVERIFY(live.window().liveControl().mode() == Mode::live);
        drop(writeText(live.base.folder / "clip.mp4", "none"));
        QVERIFY(live.window().live().isOn());
        QVERIFY(live.window().live().source().spec.name.ends_with("clip.mp4"));
    }

    void theGallerysPicturesGoBehind() {
        LiveFixture live;
        ParamsPanel& panel = live.window().panel();
        const auto click = [&](Background::Kind kind) { panel.kinds().button(int(kind))->click(); };
        const Background before = live.window().document().params().background;
        auto* gallery = live.window().findChild<Gallery*>();
        click(Background::Kind::image);  // asks nothing, and changes nothing yet
        QVERIFY(gallery->isVisible());
        panel.slider(ParamControl::threshold).slider().setValue(40);
        QVERIFY(gallery->isVisible() && live.window().document().params().background == before);
        click(before.kind);
        QVERIFY(!gallery->isVisible() && panel.kinds().checkedId() == int(before.kind));
        click(Background::Kind::image);
        QVERIFY(gallery->isVisible() && panel.kinds().checkedId() == int(Background::Kind::image));
        const auto thumbnails = gallery->findChildren<QPushButton*>();
        QVERIFY(thumbnails.size() >= 6);
        for (QPushButton* thumbnail : thumbnails) QTRY_VERIFY(!thumbnail->icon().isNull());
        thumbnails.first()->click();
        QTRY_VERIFY(live.window().document().params().background.kind == Background::Kind::image);
        QVERIFY(live.window().document().params().background.imagePath.ends_with(".jpg"));
        QVERIFY(gallery->isVisible());
        live.press(Qt::Key_Z, Qt::ControlModifier);
        QVERIFY(!gallery->isVisible());  // the panel shows what is behind the person
    }

    void theOverlayShowsLayersAndHistory() {
        LiveFixture live;
        live.start();
        TimingOverlay& timing = live.window().canvas().timing();
        live.press(Qt::Key_F3);
        QVERIFY(timing.isVisible());
        live.showNext();
        live.showNext();
        timing.refresh();
        const TimingLayout layout(timing.size());
        QTest::mouseClick(&timing, Qt::LeftButton, {}, layout.column(1, 2).center());
        QCOMPARE(timing.selected(), 1);
        QTest::keyClick(&timing, Qt::Key_Left);
        QCOMPARE(timing.selected(), 0);
        const QImage drawn = timing.grab().toImage();
        QVERIFY(drawn.pixelColor(layout.column(0, 2).center().x(), layout.column(0, 2).bottom() - 4).value() > 150);
        QVERIFY(timing.cost().drawMs > 0);
        live.press(Qt::Key_F3);
        QVERIFY(!timing.isVisible());
    }

    void theSmallWindowComesAndGoes() {
        LiveFixture live;
        live.start();
        const QSize before = live.window().size();
        live.press(Qt::Key_M, Qt::ControlModifier);
        QVERIFY(live.window().compact().inCorner());
        QTRY_VERIFY(live.window().width() < 500 && !live.window().panel().isVisible());
        QVERIFY(live.window().canvas().light().isVisible());  // the light stays
        live.showNext();
        live.window().actions()[ActionId::corner]->trigger();
        QTRY_VERIFY(live.window().panel().isVisible());
        QTRY_COMPARE(live.window().size(), before);
    }

    void modeSourceAndMirrorAreRemembered() {
        LiveFixture live;
        LiveSource source;
        source.spec.name = "Desk";
        source.encoding = Encoding::yuyv;
        source.size = {640, 480};
        source.rate = 30;
        live.window().liveControl().choose(source);
        live.press(Qt::Key_M);
        QVERIFY(!live.window().document().params().transform.mirrored);
        live.base.restart();
        QVERIFY(live.window().liveControl().mode() == Mode::live);
        QVERIFY(live.window().settings().live.source == source);
        QVERIFY(!live.window().document().params().transform.mirrored);
        QVERIFY(!live.window().live().isOn());  // nobody is filmed before they say so
    }

    void undoAndResetLeaveEachSourceItsMirror() {
        LiveFixture live;
        const auto mirrored = [&] { return live.window().document().params().transform.mirrored; };
        const LiveSettings& settings = live.window().settings().live;
        live.window().panel().slider(ParamControl::threshold).slider().setValue(40);  // in front of a camera
        live.window().liveControl().choose(testPerson());
        live.press(Qt::Key_Z, Qt::ControlModifier);
        QVERIFY(!mirrored() && !settings.mirrorOthers);
        live.window().liveControl().choose({});
        live.press(Qt::Key_Y, Qt::ControlModifier);
        live.window().actions()[ActionId::resetParams]->trigger();
        QVERIFY(mirrored() && settings.mirrorCameras);
        live.press(Qt::Key_M);
        live.window().actions()[ActionId::resetParams]->trigger();
        QVERIFY(mirrored() && settings.mirrorCameras);  // as a camera is
    }

    void mirroringIsUndoneForTheKindOfSourceThatItWasTurnedFor() {
        LiveFixture live;
        const auto mirrored = [&] { return live.window().document().params().transform.mirrored; };
        const LiveSettings& settings = live.window().settings().live;
        live.press(Qt::Key_M);  // in front of a camera
        live.window().liveControl().choose(testPerson());
        live.press(Qt::Key_Z, Qt::ControlModifier);
        QVERIFY(!mirrored() && !settings.mirrorOthers && settings.mirrorCameras);
        live.press(Qt::Key_Y, Qt::ControlModifier);
        QVERIFY(!mirrored() && !settings.mirrorOthers && !settings.mirrorCameras);
        live.press(Qt::Key_Z, Qt::ControlModifier);
        live.window().liveControl().choose({});
        QVERIFY(mirrored() && settings.mirrorCameras);
        live.press(Qt::Key_Y, Qt::ControlModifier);
        QVERIFY(!mirrored() && !settings.mirrorCameras);
    }

    void mirroringThatIsUndoneAtAPhotoIsUndoneLiveToo() {
        LiveFixture live;
        live.press(Qt::Key_M);  // in front of a camera
        live.window().setMode(Mode::photo);
        live.press(Qt::Key_Z, Qt::ControlModifier);
        live.window().setMode(Mode::live);
        QVERIFY(live.window().document().params().transform.mirrored);
    }

    void whatIsResetAtAPhotoAndUndoneLiveLeavesTheMirror() {
        LiveFixture live;  // in front of a camera
        live.window().setMode(Mode::photo);
        live.window().panel().slider(ParamControl::threshold).slider().setValue(40);
        live.window().liveControl().choose(testPerson());
        live.window().actions()[ActionId::resetParams]->trigger();
        live.window().setMode(Mode::live);
        live.press(Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(live.window().document().params().threshold, 0.4F);
        QVERIFY(!live.window().document().params().transform.mirrored);
        QVERIFY(!live.window().settings().live.mirrorOthers);
    }
};

int runLiveTests(int argc, char** argv) {
    LiveTest test;
    return QTest::qExec(&test, argc, argv);
}

}  // namespace matte::test

#include "live_test.moc"
