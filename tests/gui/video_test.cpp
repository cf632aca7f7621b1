// SPDX-License-Identifier: Apache-2.0
// A video behind the person: how it is chosen, what a photo makes of it, how it plays live, and what is remembered.
#include <QButtonGroup>
#include <QDropEvent>
#include <QMimeData>
#include <QTest>
#include <QUrl>

#include <set>

#include "gui/live/live_control.h"
#include "gui/live/profiles.h"
#include "gui/panels/params_panel.h"
#include "gui/panels/picture_well.h"
#include "gui/photo/background_chooser.h"
#include "gui/widgets/banner.h"
#include "gui/window/canvas.h"
#include "tests/gui/groups.h"
#include "tests/gui/live_fixture.h"
#include "tests/support/files/video_file.h"

namespace matte::test {
namespace {

QString videoIn(const ScratchFolder& folder, const std::string& name = "clip.mp4", int frames = 5) {
    return QString::fromStdString(writeVideo(folder / name, frames, 25).string());
}

/// Which frame of the video is behind the person in the middle of the window; -1 for none.
int frameShown(const WindowFixture& fixture) {
    const QColor color = fixture.shownColor();
    Image pixel({1, 1}, PixelFormat::rgba8);
    const std::uint8_t bytes[4] = {std::uint8_t(color.red()), std::uint8_t(color.green()), std::uint8_t(color.blue()),
                                   255};
    std::copy_n(bytes, 4, pixel.row(0));
    return videoFrameIn(pixel);
}

void drop(QWidget& widget, const QString& path) {
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(path)});
    QDragEnterEvent enter({9, 9}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&widget, &enter);
    QDropEvent event(QPointF(9, 9), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&widget, &event);
}

bool isBehind(MainWindow& window, const QString& path) {
    const Background& background = window.document().params().background;
    return background.kind == Background::Kind::image && background.moving && background.image &&
           background.imagePath == path.toStdString();
}

}  // namespace

class VideoTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void behindAPhotoStandsItsFirstFrame() {
        WindowFixture fixture;
        fixture.open();
        const QString video = videoIn(fixture.folder);
        fixture.window->backgrounds().choose(video);
        QTRY_VERIFY(isBehind(*fixture.window, video));
        QTRY_COMPARE(frameShown(fixture), 0);
        fixture.window->backgrounds().choose(writePhoto(fixture.folder / "sea.png", {9, 9}, {1, 99, 120}));
        QTRY_COMPARE(fixture.shownColor(), QColor(1, 99, 120));
        QVERIFY(!fixture.window->document().params().background.moving);
        fixture.window->document().undo();
        QTRY_COMPARE(frameShown(fixture), 0);
        fixture.window->backgrounds().choose(writeText(fixture.folder / "bad.mp4", "no video"));
        QTRY_VERIFY(fixture.hasError());
        QVERIFY(fixture.banner().contains("bad.mp4") && isBehind(*fixture.window, video));
    }

    void itIsDroppedOnThePanelAndOnAPhoto() {
        WindowFixture fixture;
        fixture.open();
        const QString one = videoIn(fixture.folder, "one.mp4"), two = videoIn(fixture.folder, "two.avi");
        drop(*fixture.window->findChild<PictureWell*>(), one);
        QTRY_VERIFY(isBehind(*fixture.window, one));
        drop(*fixture.window, two);
        QTRY_VERIFY(isBehind(*fixture.window, two));
        QVERIFY(fixture.window->document().isOpen());
    }

    void itPlaysLive() {
        EngineLog log;
        LiveFixture live(fakeEngine(log));
        live.start();
        live.window().backgrounds().choose(videoIn(live.base.folder));
        std::set<int> seen;
        QTRY_VERIFY((live.showNext(), seen.insert(frameShown(live.base)), seen.contains(1) && seen.contains(4)));
        // The parameters themselves stay as they are: nothing to undo for each frame, nothing to draw anew in the
        // panel.
        QCOMPARE(live.window().document().undoStack().count(), 1);
        live.window().panel().kinds().button(int(Background::Kind::color))->click();
        live.showNext();
        QTRY_VERIFY(live.backgroundShown());
    }

    void aHiddenPersonLeavesAStillOfIt() {
        EngineLog log;
        LiveFixture live(fakeEngine(log));
        live.start();
        live.window().backgrounds().choose(videoIn(live.base.folder));
        bool later = false;  // the video may have begun again when it is asked a second time
        QTRY_VERIFY((live.showNext(), later = later || frameShown(live.base) > 0));
        live.press(Qt::Key_F8);
        live.feed.push(160, 120);
        QTRY_COMPARE(frameShown(live.base), 0);
    }

    void oneThatBreaksOffIsTold() {
        EngineLog log;
        LiveFixture live(fakeEngine(log));
        live.start();
        const QString video = videoIn(live.base.folder, "cut.avi", 60);
        const std::filesystem::path path = video.toStdString();
        std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
        live.window().backgrounds().choose(video);
        QTRY_VERIFY((live.showNext(), live.base.hasError()));
        QVERIFY(live.base.banner().contains("cut.avi"));
        QVERIFY(frameShown(live.base) >= 0);  // its last good frame
    }

    void itIsRememberedAndKeptInProfiles() {
        LiveFixture live;
        const QString video = videoIn(live.base.folder);
        live.window().backgrounds().choose(video);
        QTRY_VERIFY(isBehind(live.window(), video));
        QVERIFY(live.window().profiles().keep({"River", live.window().document().params(), {}}));
        live.base.startup.background.reset();
        live.base.restart();
        QTRY_VERIFY(isBehind(live.window(), video));
        live.window().panel().kinds().button(int(Background::Kind::blur))->click();
        live.press(Qt::Key_1, Qt::ControlModifier);
        QTRY_VERIFY(isBehind(live.window(), video));
    }
};

int runVideoTests(int argc, char** argv) {
    VideoTest test;
    return QTest::qExec(&test, argc, argv);
}

}  // namespace matte::test

#include "video_test.moc"
