// SPDX-License-Identifier: Apache-2.0
// PhotoSession: what the worker does with jobs that follow, replace and cancel each other.
#include <QSignalSpy>
#include <QTest>

#include "gui/photo/photo_session.h"
#include "inference/media/image/image_file.h"
#include "tests/gui/groups.h"
#include "tests/gui/window_fixture.h"
#include "tests/support/engines/fake_engine.h"

namespace matte::test {
namespace {

constexpr Size kLarge{1600, 1200};  // more than a quick picture may have

/// A session and what it said.
struct Heard {
    explicit Heard(EngineLog& log) : session(fakeEngine(log)) {
        QObject::connect(&session, &PhotoSession::opened, &receiver,
                         [this](const OpenedPhoto& p) { photos.append(p); });
        QObject::connect(&session, &PhotoSession::rendered, &receiver,
                         [this](const Rendered& r) { pictures.append(r); });
        QObject::connect(&session, &PhotoSession::failed, &receiver, [this](const QString& s) { failures.append(s); });
        QObject::connect(&session, &PhotoSession::cancelled, &receiver, [this] { ++cancelled; });
        QObject::connect(&session, &PhotoSession::busyChanged, &receiver,
                         [this](const QString& s) { stages.append(s); });
    }
    void open(const QString& path) {
        const auto before = photos.size();
        session.open(PhotoSource::fromFile(path));
        QTRY_COMPARE(photos.size(), before + 1);
    }
    QObject receiver;
    QList<OpenedPhoto> photos;
    QList<Rendered> pictures;
    QStringList failures, stages;
    int cancelled = 0;
    PhotoSession session;
};

CompositeParams blur(int strength) {
    CompositeParams params;
    params.background.blurStrength = float(strength);
    return params;
}

}  // namespace

class SessionTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void opensAndRenders() {
        const ScratchFolder folder;
        EngineLog log;
        Heard heard(log);
        heard.open(writePhoto(folder / "a.png", {64, 48}));
        QCOMPARE(heard.photos.last().name, "a.png");
        QVERIFY((heard.photos.last().image->size() == Size{64, 48}));
        QCOMPARE(heard.photos.last().times.front().stage, Stage::decode);
        heard.session.show({blur(7), Showing::result, 32});
        QTRY_COMPARE(heard.pictures.size(), 1);
        QVERIFY((heard.pictures.last().image->size() == Size{32, 24}));
        QVERIFY(!heard.pictures.last().full);
        QCOMPARE(int(heard.pictures.last().image->row(0)[0]), 7);
        QVERIFY(heard.stages.contains("Cutting out"));
        QVERIFY(heard.stages.last().isEmpty());
        QCOMPARE(log.cutOuts.load(), 1);
    }

    void aPhotoThatFailsLeavesTheOpenOne() {
        const ScratchFolder folder;
        EngineLog log;
        Heard heard(log);
        heard.open(writePhoto(folder / "a.png"));
        heard.session.open(PhotoSource::fromFile(writeText(folder / "b.jpg", "not a picture")));
        QTRY_COMPARE(heard.failures.size(), 1);
        log.failCutOut = true;
        heard.session.open(PhotoSource::fromFile(writePhoto(folder / "c.png", {8, 8})));
        QTRY_COMPARE(heard.failures.size(), 2);
        heard.session.show({blur(9), Showing::result, 1000});
        QTRY_COMPARE(heard.pictures.size(), 1);
        QVERIFY((heard.pictures.last().image->size() == Size{64, 48}));
        QCOMPARE(heard.photos.size(), 1);
    }

    void theNewestParamsWin() {
        const ScratchFolder folder;
        EngineLog log;
        Heard heard(log);
        heard.open(writePhoto(folder / "a.png"));
        log.composite.close();
        for (int strength = 1; strength <= 50; ++strength) heard.session.show({blur(strength), Showing::result, 16});
        log.composite.open();
        const auto newest = [&] { return heard.pictures.isEmpty() ? 0 : int(heard.pictures.last().image->row(0)[0]); };
        QTRY_COMPARE(newest(), 50);
        QVERIFY(log.composites <= 2);  // the one that was running, and the newest
        heard.session.show({blur(60), Showing::result, 16});
        QTRY_COMPARE(newest(), 60);
        QVERIFY(log.composites <= 3);  // and nothing in between
        QCOMPARE(log.cutOuts.load(), 1);
    }

    void aDragIsSeenWhileItLasts() {
        const ScratchFolder folder;
        EngineLog log;
        Heard heard(log);
        heard.open(writePhoto(folder / "a.png"));
        for (int i = 1; i <= 9; i += 2) {
            log.composite.close();
            heard.session.show({blur(i), Showing::result, 16});
            QTRY_COMPARE(log.composites.load(), i);
            heard.session.show({blur(i + 1), Showing::result, 16});
            log.composite.open();
            QTRY_COMPARE(heard.pictures.size(), i + 1);  // the step did not cancel the picture before it
            QCOMPARE(int(heard.pictures[i - 1].image->row(0)[0]), i);
            QCOMPARE(int(heard.pictures[i].image->row(0)[0]), i + 1);
        }
    }

    void theFullSizeFollowsWhenNothingElseIsAsked() {
        const ScratchFolder folder;
        EngineLog log;
        Heard heard(log);
        heard.open(writePhoto(folder / "a.png", kLarge));
        heard.session.show({blur(3), Showing::result, kLarge.width});
        QTRY_COMPARE(heard.pictures.size(), 2);
        QVERIFY(!heard.pictures[0].full && heard.pictures[1].full);
        const auto quick = double(heard.pictures[0].image->size().pixels());
        QVERIFY(quick <= 1.01 * PhotoSession::kPreviewPixels);  // its sides are rounded
        QVERIFY(heard.pictures[1].image->size() == kLarge);
    }

    void aSlowMachineGetsSmallerQuickPictures() {
        const ScratchFolder folder;
        EngineLog log;
        log.compositeMs = 60;
        Heard heard(log);
        heard.open(writePhoto(folder / "a.png", {1200, 900}));
        heard.session.show({blur(3), Showing::result, 1200});
        QTRY_COMPARE(heard.pictures.size(), 1);
        QCOMPARE(heard.pictures.last().image->size().width, 1200);
        heard.session.show({blur(4), Showing::result, 1200});
        QTRY_COMPARE(heard.pictures.size(), 2);
        QVERIFY(heard.pictures.last().image->size().width < 900);
        QTRY_COMPARE(heard.pictures.size(), 3);
        QCOMPARE(heard.pictures.last().image->size().width, 1200);
    }

    void newerParamsCancelTheFullSize() {
        const ScratchFolder folder;
        EngineLog log;
        log.stallFullSize = true;
        Heard heard(log);
        heard.open(writePhoto(folder / "a.png", kLarge));
        heard.session.show({blur(3), Showing::result, kLarge.width});
        QTRY_COMPARE(log.fullSize.load(), 1);
        heard.session.show({blur(4), Showing::result, 16});
        QTRY_COMPARE(log.cancelled.load(), 1);
        QTRY_COMPARE(heard.pictures.size(), 2);
        QCOMPARE(int(heard.pictures.last().image->row(0)[0]), 4);
        QCOMPARE(heard.cancelled, 0);  // nobody asked for it to stop
        QVERIFY(heard.failures.isEmpty());
    }

    void cancelStopsAPhoto() {
        const ScratchFolder folder;
        EngineLog log;
        Heard heard(log);
        heard.open(writePhoto(folder / "a.png"));
        log.stallCutOut = true;
        heard.session.open(PhotoSource::fromFile(writePhoto(folder / "b.png", {8, 8})));
        QTRY_COMPARE(log.cutOuts.load(), 2);
        heard.session.cancel();
        QTRY_COMPARE(heard.cancelled, 1);
        QTRY_VERIFY(heard.stages.last().isEmpty());
        QCOMPARE(heard.photos.size(), 1);
    }

    void theNewestPhotoWins() {
        const ScratchFolder folder;
        EngineLog log;
        log.stallCutOut = true;
        Heard heard(log);
        heard.session.open(PhotoSource::fromFile(writePhoto(folder / "a.png")));
        QTRY_COMPARE(log.cutOuts.load(), 1);
        log.stallCutOut = false;
        heard.session.open(PhotoSource::fromFile(writePhoto(folder / "b.png")));
        QTRY_COMPARE(heard.photos.size(), 1);
        QCOMPARE(heard.photos.last().name, "b.png");
    }

    void whatIsAskedForWhileAPhotoIsOpenedMeansTheOneBefore() {
        const ScratchFolder folder;
        EngineLog log;
        Heard heard(log);
        heard.open(writePhoto(folder / "a.png", {64, 48}));
        const int before = heard.photos.last().number;
        log.cutOut.close();
        heard.session.open(PhotoSource::fromFile(writePhoto(folder / "b.png", {8, 8})));
        QTRY_COMPARE(log.cutOuts.load(), 2);
        const std::filesystem::path out = folder / "out.png";
        heard.session.exportTo(QString::fromStdString(out.string()), blur(3), before);
        log.cutOut.open();
        QTRY_COMPARE(heard.photos.size(), 2);
        QVERIFY((readImage(out)->size() == Size{64, 48}));
        QVERIFY(heard.failures.isEmpty());
    }

    void aPhotoThatWasReplacedIsNotSavedInItsPlace() {
        const ScratchFolder folder;
        EngineLog log;
        Heard heard(log);
        heard.open(writePhoto(folder / "a.png", {64, 48}));
        const int before = heard.photos.last().number;
        heard.open(writePhoto(folder / "b.png", {8, 8}));
        heard.session.exportTo(QString::fromStdString((folder / "out.png").string()), blur(3), before);
        heard.session.copy(blur(3), before);
        QTRY_COMPARE(heard.failures.size(), 2);
        QVERIFY(heard.failures.last().contains("Another photo was opened"));
        QVERIFY(!std::filesystem::exists(folder / "out.png"));
    }

    void anEngineThatCouldNotBeMadeIsTriedAgain() {
        const ScratchFolder folder;
        EngineLog log;
        log.failMaking = 2;
        Heard heard(log);
        heard.session.prepare();
        QTRY_COMPARE(heard.failures.size(), 1);
        heard.session.open(PhotoSource::fromFile(writePhoto(folder / "a.png")));
        QTRY_COMPARE(heard.failures.size(), 2);
        QVERIFY(heard.failures.last().contains("damaged"));
        heard.open(writePhoto(folder / "a.png"));
        QCOMPARE(log.made.load(), 1);
    }

    void endsAtOnceWhileItWorks() {
        const ScratchFolder folder;
        EngineLog log;
        log.stallCutOut = true;
        {
            PhotoSession session(fakeEngine(log));
            session.open(PhotoSource::fromFile(writePhoto(folder / "a.png")));
            QTRY_COMPARE(log.cutOuts.load(), 1);
        }
        QCOMPARE(log.cancelled.load(), 1);  // the cut-out would last for ever
    }

    void showingDecidesWhatIsComposited() {
        const ScratchFolder folder;
        EngineLog log;
        Heard heard(log);
        heard.open(writePhoto(folder / "a.png"));
        CompositeParams params = blur(5);
        params.threshold = 0.4F;
        heard.session.show({params, Showing::matte, 16});
        QTRY_COMPARE(heard.pictures.size(), 1);
        QVERIFY(heard.pictures.last().image->format() == PixelFormat::gray8);
        QCOMPARE(int(heard.pictures.last().image->row(0)[0]), 102);
        heard.session.show({params, Showing::onWhite, 16});
        QTRY_COMPARE(heard.pictures.size(), 2);
        QVERIFY((log.lastParams().background.color == Rgb{255, 255, 255}));
        QVERIFY(log.lastParams().threshold == params.threshold);
    }
};

int runSessionTests(int argc, char** argv) {
    SessionTest test;
    return QTest::qExec(&test, argc, argv);
}

}  // namespace matte::test

#include "session_test.moc"
