// SPDX-License-Identifier: Apache-2.0
// Whole videos leave the window as files, while it goes on.
#include <QApplication>
#include <QFileDialog>
#include <QFileInfo>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QTest>
#include <QTimer>

#include "gui/app/file_dialogs.h"
#include "gui/live/live_control.h"
#include "gui/live/video_exporter.h"
#include "gui/widgets/progress_pill.h"
#include "gui/window/canvas.h"
#include "inference/media/video/video_reader.h"
#include "tests/gui/groups.h"
#include "tests/gui/window_fixture.h"
#include "tests/support/files/video_file.h"

namespace matte::test {
namespace {

QString text(const std::filesystem::path& path) {
    return QString::fromStdString(path.string());
}

/// The grey of each picture of a video, as FakeEngine draws a blur of that strength; -1 for other colours.
std::vector<int> greysIn(const std::filesystem::path& path) {
    std::vector<int> greys;
    const auto reader = VideoReader::open(path.string(), false, {});
    if (!reader) return greys;
    Image image(reader->size(), PixelFormat::bgr8);
    while (reader->grab() && reader->retrieve(image)) {
        const std::uint8_t* pixel = image.row(10) + 30;
        const bool grey = std::abs(pixel[0] - pixel[1]) < 4 && std::abs(pixel[1] - pixel[2]) < 4;
        greys.push_back(grey ? pixel[1] : -1);
    }
    return greys;
}

constexpr int kLong = 120;  // frames: more than are written while the window goes

struct ExportFixture : WindowFixture {
    explicit ExportFixture(int frames = 12)
        : video(text(writeVideo(folder / "talk.mp4", frames))), out(folder / "new.mp4") {}
    void begin() { window->exportVideo(video, text(out)); }
    /// Held after its first frame, until log.take is opened or the window goes, which waits for the frame under way.
    void beginHeld() {
        log.take.close();
        log.take.letPass(1);
        QObject::connect(&window->liveControl(), &QObject::destroyed, [this] { log.take.open(); });
        begin();
    }
    [[nodiscard]] QAction* action() const { return window->actions()[ActionId::exportVideo]; }

    QString video;
    std::filesystem::path out;
};

/// Answers the next question that stands before the window.
void answerWith(QMessageBox::StandardButton answer) {
    auto* user = new QTimer(qApp);
    QObject::connect(user, &QTimer::timeout, user, [user, answer] {
        auto* question = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
        if (!question) return;
        user->stop();  // it is deleted later than the next question may come
        user->deleteLater();
        question->button(answer)->click();
    });
    user->start(20);
}

}  // namespace

class VideoExportTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void writesAVideoWithTheParamsOfNow() {
        ExportFixture fixture;
        fixture.window->document().edit(ParamControl::blurStrength, [](CompositeParams& params) {
            params.background.blurStrength = 90;
            params.transform.mirrored = true;
        });
        fixture.begin();
        QTRY_VERIFY(fixture.banner().contains("new.mp4"));
        QVERIFY(!fixture.hasError());
        const auto greys = greysIn(fixture.out);
        QCOMPARE(greys.size(), std::size_t(12));
        for (const int grey : greys) QVERIFY(std::abs(grey - 90) <= 3);
        QVERIFY(!fixture.log.lastParams().transform.mirrored);  // the camera is a mirror, another video is not
        QVERIFY(fixture.log.lastParams().fineDetail);
        QVERIFY(!fixture.window->canvas().progress().isBusy());
        QVERIFY(fixture.action()->isEnabled());
    }

    void saysHowFarItIsAndCanBeCancelled() {
        ExportFixture fixture;
        const auto before = fixture.folder.names();
        fixture.beginHeld();
        QVERIFY(!fixture.action()->isEnabled());
        QTRY_VERIFY(fixture.window->canvas().progress().accessibleName().contains("% of new.mp4"));
        fixture.begin();  // one at a time
        answerWith(QMessageBox::No);
        QTest::keyClick(fixture.window.get(), Qt::Key_Escape);
        QVERIFY(fixture.window->exporter().isBusy());
        answerWith(QMessageBox::Yes);
        fixture.window->actions()[ActionId::cancel]->trigger();  // nobody gives the window the keys back here
        fixture.log.take.open();
        QTRY_VERIFY(fixture.banner().contains("Cancelled"));
        QVERIFY(!fixture.window->exporter().isBusy());
        QCOMPARE(fixture.folder.names(), before);
        fixture.begin();
        QTRY_VERIFY(fixture.banner().contains("new.mp4"));
    }

    void saysWhatWentWrong_data() {
        QTest::addColumn<QString>("video");
        QTest::addColumn<QString>("out");
        QTest::addColumn<QString>("part");
        QTest::newRow("no video") << "photo.png.txt"
                                  << "new.mp4"
                                  << "There is no file";
        QTest::newRow("another form") << "talk.mp4"
                                      << "new.xyz"
                                      << "use mp4, mov, mkv or webm";
        QTest::newRow("the video itself") << "talk.mp4"
                                          << "talk.mp4"
                                          << "would replace a file that is read";
        QTest::newRow("no folder") << "talk.mp4"
                                   << "none/new.mp4"
                                   << "folder doesn't exist";
    }
    void saysWhatWentWrong() {
        QFETCH(QString, video);
        QFETCH(QString, out);
        QFETCH(QString, part);
        ExportFixture fixture;
        const auto before = fixture.folder.names();
        fixture.window->exportVideo(text(fixture.folder / video.toStdString()),
                                    text(fixture.folder / out.toStdString()));
        QTRY_VERIFY(fixture.hasError());
        QVERIFY2(fixture.banner().contains(part), qPrintable(fixture.banner()));
        QCOMPARE(fixture.folder.names(), before);
        QVERIFY(!fixture.window->exporter().isBusy());
    }

    void saysWhenTheSoundIsLost() {
        ExportFixture fixture;
        const auto loud = withSound(fixture.video.toStdString(), fixture.folder / "loud.mov");
        fixture.window->exportVideo(text(loud), text(fixture.folder / "new.webm"));
        QTRY_VERIFY(fixture.banner().contains("Saved new.webm."));
        QVERIFY2(fixture.banner().contains("has no sound"), qPrintable(fixture.banner()));
    }

    void asksBeforeAVideoIsGivenUp() {
        ExportFixture fixture;
        fixture.showWindow();
        fixture.beginHeld();
        answerWith(QMessageBox::No);
        QVERIFY(!closeByDesktop(*fixture.window));
        QVERIFY(fixture.window->isVisible() && fixture.window->exporter().isBusy());
        answerWith(QMessageBox::Yes);
        QVERIFY(closeByDesktop(*fixture.window));
        fixture.log.take.open();
        QTRY_VERIFY(!fixture.window->exporter().isBusy());
        QVERIFY(!std::filesystem::exists(fixture.out));
    }

    void isGivenUpWithoutAQuestionWhereNobodyCanAnswer_data() {
        QTest::addColumn<bool>("asked");
        QTest::newRow("at once") << false;
        QTest::newRow("while it is asked") << true;
    }
    void isGivenUpWithoutAQuestionWhereNobodyCanAnswer() {
        QFETCH(bool, asked);
        ExportFixture fixture(kLong);
        fixture.showWindow();
        const auto before = fixture.folder.names();
        fixture.beginHeld();
        if (asked) {
            QTimer::singleShot(0, qApp, [&] {  // once the question stands there
                fixture.window->closeNow();
                qobject_cast<QDialog*>(QApplication::activeModalWidget())->reject();
            });
            closeByDesktop(*fixture.window);
        } else {
            QTimer::singleShot(0, qApp, [] {
                QEvent quit(QEvent::Quit);  // as the session manager has it
                QApplication::sendEvent(qApp, &quit);
            });
            QApplication::exec();
        }
        QVERIFY(!fixture.window->isVisible());
        fixture.window.reset();
        QVERIFY(!std::filesystem::exists(fixture.out));
        QCOMPARE(fixture.folder.names(), before);
    }

    void endsWithItsWindow() {
        ExportFixture fixture(kLong);
        const auto before = fixture.folder.names();
        fixture.beginHeld();
        fixture.window.reset();
        QCOMPARE(fixture.folder.names(), before);
    }

    /// The menu takes the video that is played, and completes the name that is typed.
    void asksForANameAlone() {
        ExportFixture fixture;
        fixture.showWindow();
        LiveSource source;
        source.spec = parseSource(fixture.video.toStdString());
        fixture.window->setMode(Mode::live);
        fixture.window->liveControl().choose(source);
        QTimer user;
        QStringList titles;
        QObject::connect(&user, &QTimer::timeout, [&] {
            auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
            if (!dialog) return;
            titles.append(dialog->windowTitle());
            dialog->setDirectory(text(fixture.folder.path()));
            dialog->findChild<QLineEdit*>("fileNameEdit")->setText(text(fixture.folder / "typed"));
            QMetaObject::invokeMethod(dialog, "accept");
        });
        user.start(20);
        fixture.action()->trigger();
        QTRY_VERIFY(fixture.banner().contains("typed.mp4"));
        QCOMPARE(titles, QStringList("Export the Video"));
        QCOMPARE(greysIn(fixture.folder / "typed.mp4").size(), std::size_t(12));
    }
};

int runVideoExportTests(int argc, char** argv) {
    VideoExportTest test;
    return QTest::qExec(&test, argc, argv);
}

}  // namespace matte::test

#include "video_export_test.moc"
