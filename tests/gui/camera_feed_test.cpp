// SPDX-License-Identifier: Apache-2.0
// What other programs see through Matte's own camera: what the window shows, and nothing else.
#include <QAbstractButton>
#include <QApplication>
#include <QMessageBox>
#include <QTest>
#include <QTimer>

#include <atomic>
#include <mutex>

#include "gui/live/camera_feed.h"
#include "gui/live/live_control.h"
#include "inference/core/error.h"
#include "tests/gui/groups.h"
#include "tests/gui/live_fixture.h"

namespace matte::test {
namespace {

/// What happened to the camera, and what is to happen. Any thread.
struct CameraScript {
    std::atomic<bool> watched = true, lost = false, refused = false;
    std::atomic<int> open = 0, opened = 0, shown = 0;
    std::atomic<int> looks = 0;  ///< so often was it asked whether it is watched, which is before each picture

    void see(QColor color) {
        const std::scoped_lock lock(mutex_);
        seen_ = color;
        ++shown;
    }
    /// Black for nothing, invalid before anything was shown.
    [[nodiscard]] QColor seen() const {
        const std::scoped_lock lock(mutex_);
        return seen_;
    }

private:
    mutable std::mutex mutex_;
    QColor seen_;
};

class ScriptedCamera : public VirtualCamera {
public:
    explicit ScriptedCamera(CameraScript& script) : script_(script) {
        ++script_.opened;
        ++script_.open;
    }
    ~ScriptedCamera() override { --script_.open; }
    void show(const ImageView& picture) override {
        const std::uint8_t* pixel = picture.row(picture.size.height / 2) + std::ptrdiff_t(picture.size.width / 2) * 4;
        script_.see(QColor(pixel[0], pixel[1], pixel[2]));
    }
    void showNothing() override { script_.see(Qt::black); }
    [[nodiscard]] bool isWatched() const override {
        ++script_.looks;
        return script_.watched;
    }
    [[nodiscard]] std::string problem() const override { return script_.lost ? "It is gone: turn it on again." : ""; }
    [[nodiscard]] std::vector<std::string> names() const override { return {"Matte", "Dummy video device", "Matte"}; }

private:
    CameraScript& script_;
};

struct FeedFixture {
    FeedFixture() {
        live.base.startup.openVirtualCamera = [this](const std::stop_token&) -> std::unique_ptr<VirtualCamera> {
            if (camera.refused) throw Error(ErrorCategory::output, "There is no PipeWire: start it.");
            return std::make_unique<ScriptedCamera>(camera);
        };
        live.base.restart();
        live.window().setMode(Mode::live);
    }
    void turn(bool on) { live.window().actions()[ActionId::virtualCamera]->setChecked(on); }
    /// Until the feed is through with what it was given so far.
    void lookAgain() const {
        const int before = camera.looks;
        QTRY_VERIFY(camera.looks >= before + 2);
    }
    [[nodiscard]] bool isTurnedOn() const { return live.window().actions()[ActionId::virtualCamera]->isChecked(); }
    [[nodiscard]] bool personSeen() const { return camera.seen().green() == 201; }
    [[nodiscard]] bool backgroundSeen() const { return camera.seen() == QColor(kBehind.r, kBehind.g, kBehind.b); }

    CameraScript camera;
    LiveFixture live;
};

}  // namespace

class FeedTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void othersSeeWhatIsShown() {
        FeedFixture feed;
        feed.live.start();
        QCOMPARE(feed.camera.opened.load(), 0);  // only when it is asked for
        feed.live.press(Qt::Key_V, Qt::ControlModifier | Qt::ShiftModifier);
        QTRY_VERIFY(feed.personSeen());
        QTRY_VERIFY(feed.live.base.banner().contains("as the camera “Matte” or “Dummy video device”"));
        const int before = feed.camera.shown;
        feed.live.showNext();
        QTRY_VERIFY(feed.camera.shown > before && feed.personSeen());
        feed.turn(false);
        QCOMPARE(feed.camera.open.load(), 0);
    }

    void whoHidesIsHiddenThereToo() {
        FeedFixture feed;
        feed.live.start();
        feed.turn(true);
        QTRY_VERIFY(feed.personSeen());
        feed.live.press(Qt::Key_F8);
        QTRY_VERIFY(feed.backgroundSeen());
        feed.live.pushThrough();
        feed.lookAgain();
        QVERIFY(feed.backgroundSeen());
        feed.live.press(Qt::Key_F8);
        feed.live.showNext();
        QTRY_VERIFY(feed.personSeen());
    }

    void nothingIsSeenBeforeTheStartAndAfterTheStop() {
        FeedFixture feed;
        feed.turn(true);
        QTRY_COMPARE(feed.camera.seen(), QColor(Qt::black));
        feed.live.start();
        QTRY_VERIFY(feed.personSeen());
        feed.live.press(Qt::Key_Space);
        QTRY_COMPARE(feed.camera.seen(), QColor(Qt::black));
        feed.live.start();
        QTRY_VERIFY(feed.personSeen());
        feed.live.window().setMode(Mode::photo);
        QTRY_COMPARE(feed.camera.seen(), QColor(Qt::black));
        QVERIFY(feed.isTurnedOn());
    }

    void noPictureIsFetchedWhileNobodyWatches() {
        FeedFixture feed;
        feed.camera.watched = false;
        feed.live.start();
        feed.turn(true);
        QTRY_COMPARE(feed.camera.open.load(), 1);
        for (int i = 0; i < 3; ++i) feed.live.showNext();
        feed.lookAgain();
        QCOMPARE(feed.camera.shown.load(), 0);
        feed.camera.watched = true;
        QTRY_VERIFY(feed.personSeen());  // without a new picture
    }

    void aCameraThatIsRefusedOrGoesIsToldAndTurnedOff() {
        FeedFixture feed;
        feed.camera.refused = true;
        feed.turn(true);
        QTRY_VERIFY(feed.live.base.hasError());
        QVERIFY(feed.live.base.banner().contains("no PipeWire"));
        QVERIFY(!feed.isTurnedOn());
        feed.camera.refused = false;
        feed.turn(true);
        QTRY_VERIFY(!feed.live.base.hasError());
        QTRY_COMPARE(feed.camera.open.load(), 1);
        feed.camera.lost = true;
        QTRY_VERIFY(feed.live.base.hasError());
        QVERIFY(feed.live.base.banner().contains("turn it on again"));
        QVERIFY(!feed.isTurnedOn());
        QCOMPARE(feed.camera.open.load(), 0);
    }

    void closingWhileOthersWatchIsAskedAbout() {
        FeedFixture feed;
        MainWindow& window = feed.live.window();
        feed.live.start();
        feed.turn(true);
        QTRY_VERIFY(feed.personSeen());
        QStringList asked;
        int answer = Qt::Key_Escape;
        QTimer user;
        QObject::connect(&user, &QTimer::timeout, [&] {
            auto* question = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
            if (!question) return;
            asked.append(question->text());
            if (answer == Qt::Key_Escape) {
                QTest::keyClick(question, Qt::Key_Escape);
            } else {
                for (QAbstractButton* button : question->buttons()) {
                    if (button->text() == "Close Matte") button->click();
                }
            }
        });
        user.start(20);
        QVERIFY(!closeByDesktop(window));
        QCOMPARE(asked, QStringList("Other programs see this camera. Close Matte?"));
        QVERIFY(window.isVisible() && feed.personSeen() && feed.camera.open == 1);
        window.actions()[ActionId::quit]->trigger();
        QCOMPARE(asked.size(), 2);
        QVERIFY(window.isVisible() && feed.camera.open == 1);
        answer = Qt::Key_Return;
        window.actions()[ActionId::quit]->trigger();
        QCOMPARE(asked.size(), 3);  // once
        QVERIFY(!window.isVisible());
        QCOMPARE(feed.camera.open.load(), 0);
    }

    void closingIsNotAskedAboutWhereNobodyLosesAnything() {
        FeedFixture feed;
        feed.camera.watched = false;
        feed.turn(true);
        QTRY_COMPARE(feed.camera.open.load(), 1);
        QVERIFY(closeByDesktop(feed.live.window()));
    }

    void itEndsWithTheWindow() {
        FeedFixture feed;
        feed.live.start();
        feed.turn(true);
        QTRY_VERIFY(feed.personSeen());
        QVERIFY(feed.live.window().close());  // by the program, as at the session's end: nobody is asked
        QCOMPARE(feed.camera.open.load(), 0);
    }
};

int runFeedTests(int argc, char** argv) {
    FeedTest test;
    return QTest::qExec(&test, argc, argv);
}

}  // namespace matte::test

#include "camera_feed_test.moc"
