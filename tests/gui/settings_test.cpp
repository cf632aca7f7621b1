// SPDX-License-Identifier: Apache-2.0
// What the window remembers: written soon after each change, and read with suspicion.
#include <QFile>
#include <QFileInfo>
#include <QScreen>
#include <QSessionManager>
#include <QTest>

#include <cmath>

#include "gui/live/live_control.h"
#include "gui/live/profiles.h"
#include "gui/widgets/banner.h"
#include "gui/widgets/choice_menu.h"
#include "gui/window/canvas.h"
#include "gui/window/window_bars.h"
#include "tests/gui/groups.h"
#include "tests/gui/window_fixture.h"

namespace matte::test {
namespace {

QString text(const std::filesystem::path& path) {
    return QString::fromStdString(path.string());
}

QByteArray contents(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// As QWidget::saveGeometry() writes it.
QByteArray geometryOf(const QRect& rect) {
    QByteArray bytes;
    QDataStream stream(&bytes, QIODevice::WriteOnly);
    stream.setVersion(QDataStream::Qt_4_0);
    stream << quint32(0x1D9D0CB) << quint16(3) << quint16(0) << rect << rect << qint32(0) << quint8(0) << quint8(0)
           << qint32(1600) << rect;
    return bytes;
}

QByteArray escaped(const QByteArray& bytes) {
    QByteArray line;
    for (const char byte : bytes) line += "\\x" + QByteArray::number(uchar(byte), 16) + "\"\"";
    return "\"@ByteArray(" + line.replace("\"\"", "") + ")\"";
}

struct SettingsFixture : WindowFixture {
    [[nodiscard]] QString path() const { return text(home / "settings.ini"); }
    [[nodiscard]] QByteArray file() const { return contents(path()); }
    [[nodiscard]] bool has(const QByteArray& line) const { return file().contains("\n" + line + "\n"); }
    /// Another window, on a file of its own.
    void startWith(const QByteArray& ini, const QString& name) {
        window.reset();
        const QString other = writeText(folder / name.toStdString(), ini.toStdString());
        store = std::make_unique<QSettings>(other, QSettings::IniFormat);
        window = std::make_unique<MainWindow>(fakeEngine(log), *store, startup);
        showWindow();
    }
};

Settings load(const QString& path, QStringList& damaged) {
    const QSettings store(path, QSettings::IniFormat);
    return Settings::load(store, damaged);
}

const QByteArray kGood =
    "[files]\nrecent=/a.png, /b.png\nopenFolder=/open\n\n[live]\nmode=2\nsource=\"test:person\\t0\\t0\\t0\\t0\"\n"
    "mirrorCameras=false\noverlay=true\nvideoFolder=/videos\n\n[look]\nbackground=2\nblur=40\ncolor=#102030\n"
    "image=/c.png\nmoving=false\nplacement=2\nposition=0.25\nthreshold=0.4\nsoftness=0.3\ndecontaminate=false\n"
    "lightWrap=0.2\nmirrored=true\nscale=1.5\nx=0.1\ny=-0.1\nsteadiness=0.5\nremoveSpecks=false\n\n[profiles]\n"
    "count=1\n1\\name=Desk\n1\\source=\"camera:Desk\\t0\\t0\\t0\\t0\"\n1\\blur=20\n\n[window]\npanel=false\ntheme=3\n";

}  // namespace

class SettingsTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void eachChangeIsWrittenSoon() {
        SettingsFixture fixture;
        MainWindow& window = *fixture.window;
        const auto on = [&](ActionId id) { return window.actions()[id]; };
        window.document().edit(ParamControl::blurStrength,
                               [](CompositeParams& params) { params.background.blurStrength = 77; });
        QTRY_VERIFY(fixture.has("blur=77"));
        fixture.open(fixture.photo);
        QTRY_VERIFY(fixture.file().contains("photo.png"));
        Q_EMIT window.bars().recentCleared();
        QTRY_VERIFY(!fixture.file().contains("photo.png"));
        on(ActionId::panel)->toggle();
        QTRY_VERIFY(fixture.has("panel=false"));
        on(ActionId::split)->toggle();
        QTRY_VERIFY(fixture.has("split=false"));
        on(ActionId::overlay)->toggle();
        QTRY_VERIFY(fixture.has("overlay=true"));
        Q_EMIT window.bars().themes().chosen(int(ThemeChoice::dark));
        QTRY_VERIFY(fixture.has("theme=3"));
        window.setMode(Mode::live);
        QTRY_VERIFY(fixture.has("mode=2"));
        on(ActionId::mirror)->trigger();
        QTRY_VERIFY(fixture.has("mirrorCameras=false"));
        LiveSource source;
        source.spec = parseSource("test:person:160x120");
        window.liveControl().choose(source);
        QTRY_VERIFY(fixture.file().contains("test:person:160x120"));
        QVERIFY(window.profiles().keep({"Desk", window.document().params(), source}));
        QTRY_VERIFY(fixture.has("1\\name=Desk"));
        const QByteArray before = fixture.file();
        window.resize(window.size() - QSize(40, 30));
        QTRY_VERIFY(fixture.file() != before);
    }

    void theEndOfTheSessionWritesAtOnce() {
        SettingsFixture fixture;
        fixture.window->document().edit(ParamControl::blurStrength,
                                        [](CompositeParams& params) { params.background.blurStrength = 77; });
        QVERIFY(!fixture.has("blur=77"));
        const int signal = qApp->metaObject()->indexOfSignal("commitDataRequest(QSessionManager&)");
        void* arguments[] = {nullptr, nullptr};  // whoever listens needs no session manager
        QMetaObject::activate(qApp, signal, arguments);
        QVERIFY(fixture.has("blur=77"));
    }

    void nothingIsKeptWhereItIsNotWanted() {
        SettingsFixture fixture;
        fixture.startup.keepSettings = false;
        fixture.startWith("", "other.ini");
        fixture.window->actions()[ActionId::panel]->toggle();
        fixture.window->close();
        QCOMPARE(contents(text(fixture.folder / "other.ini")), QByteArray());
    }

    void whatCannotBeWrittenIsToldOnce() {
        SettingsFixture fixture;
        fixture.window->close();
        fixture.window.reset();
        QFile::remove(fixture.path());
        QVERIFY(QDir().mkdir(fixture.path()));  // in the way, also for who may write everywhere
        fixture.window = std::make_unique<MainWindow>(fakeEngine(fixture.log), *fixture.store, fixture.startup);
        fixture.showWindow();
        QTRY_VERIFY2(fixture.banner().contains("can't be written"), qPrintable(fixture.banner()));
        fixture.window->canvas().banner().dismiss();
        fixture.window->actions()[ActionId::panel]->toggle();
        fixture.window->close();
        QVERIFY(fixture.banner().isEmpty());
        QDir().rmdir(fixture.path());
    }

    void aDamagedSizeIsBoundedAndTold_data() {
        QTest::addColumn<QRect>("rect");
        QTest::newRow("larger than any screen") << QRect(0, 0, 16150, 32767);
        QTest::newRow("larger than this screen") << QRect(0, 0, 16000, 12000);
        QTest::newRow("far away") << QRect(1 << 30, 0, 800, 600);
        QTest::newRow("overflowing") << QRect(QPoint(INT_MIN, INT_MIN), QPoint(INT_MAX, INT_MAX));
        QTest::newRow("negative") << QRect(0, 0, -400, -400);
    }
    void aDamagedSizeIsBoundedAndTold() {
        QFETCH(QRect, rect);
        SettingsFixture fixture;
        fixture.startWith(kGood + "geometry=" + escaped(geometryOf(rect)) + "\n", "damaged.ini");
        const QRect screen = fixture.window->screen()->geometry();
        QVERIFY2(fixture.window->width() <= screen.width() && fixture.window->height() <= screen.height(),
                 qPrintable(QString("%1x%2").arg(fixture.window->width()).arg(fixture.window->height())));
        QVERIFY(fixture.window->frameGeometry().intersects(screen));
        if (rect.width() != 16000) {
            QVERIFY2(fixture.banner().contains("window/geometry"), qPrintable(fixture.banner()));
            QVERIFY(QFileInfo::exists(text(fixture.folder / "damaged.ini.damaged")));
        }
        QCOMPARE(fixture.window->settings().openFolder, QString("/open"));
        QCOMPARE(fixture.window->settings().live.profiles.size(), 1);
        QTRY_VERIFY(!contents(text(fixture.folder / "damaged.ini")).contains(escaped(geometryOf(rect))));
        fixture.restart();
        QVERIFY2(!fixture.banner().contains("damaged"), qPrintable(fixture.banner()));
        QCOMPARE(fixture.window->settings().openFolder, QString("/open"));
    }

    void whatWasDamagedStandsThereUntilSomebodyClosedIt() {
        SettingsFixture fixture;
        fixture.startWith(kGood + "opaque=x\ntheme=nan\n", "damaged.ini");
        QVERIFY2(fixture.banner().contains("damaged"), qPrintable(fixture.banner()));
        fixture.open(fixture.photo);
        Banner& banner = fixture.window->canvas().banner();
        QVERIFY(banner.isVisible());
        QVERIFY2(fixture.banner().contains("damaged"), qPrintable(fixture.banner()));
        QTest::keyClick(fixture.window.get(), Qt::Key_Escape);
        QVERIFY(!banner.isVisible());
        fixture.open(fixture.photo);
        QVERIFY(!banner.isVisible());
    }

    void brokenLinesAndBytesLoseNothingElse() {
        const ScratchFolder folder;
        QByteArray ini = kGood;
        ini.replace("openFolder=/open", "openFolder\xff").replace("videoFolder=/videos", "videoFolder=/v\xfe\xff");
        ini.replace("0\\t0\\t0\\t0\"\nmirror", "0\\t\xff\\t0\"\nmirror").replace("count=1", "count=\xff");
        QStringList damaged;
        const Settings settings = load(writeText(folder / "s.ini", ini.toStdString()), damaged);
        QVERIFY(damaged.contains("live/videoFolder") && damaged.contains("live/source"));
        QCOMPARE(settings.openFolder, QString());
        QCOMPARE(settings.live.videoFolder, QString());
        QCOMPARE(settings.live.source.spec.kind, SourceSpec::Kind::camera);
        QCOMPARE(settings.params.background.blurStrength, 40.0F);
        QCOMPARE(settings.live.profiles.size(), 1);
        QCOMPARE(settings.live.profiles[0].name, QString("Desk"));
        QCOMPARE(settings.theme, ThemeChoice::dark);
        damaged.clear();
        QVERIFY(load(writeText(folder / "good.ini", kGood.toStdString()), damaged).openFolder == "/open");
        QVERIFY2(damaged.isEmpty(), qPrintable(damaged.join(' ')));
        load(writeText(folder / "noise.ini", std::string(1000, '\xf7')), damaged);
        QCOMPARE(damaged, QStringList{"noise.ini"});
    }

    void noValueIsTakenUnseen() {
        const ScratchFolder folder;
        const QByteArrayList hostile{"nan",
                                     "inf",
                                     "-1",
                                     "1e99",
                                     "99999999999999999999",
                                     "@Invalid()",
                                     "@ByteArray(x)",
                                     "@Rect(1 2 3 4)",
                                     "@Variant(\\0\\0\\0\\x7f\\0\\0\\0\\x5QFont)",
                                     "a, b",
                                     "\xff\xfe",
                                     "\\x0",
                                     QByteArray(5000, 'x'),
                                     "image:"};
        const QByteArrayList lines = kGood.split('\n');
        int number = 0;
        for (qsizetype i = 0; i < lines.size(); ++i) {
            const qsizetype equals = lines[i].indexOf('=');
            for (const QByteArray& value : hostile) {
                if (equals < 0) continue;
                QByteArrayList changed = lines;
                changed[i] = lines[i].left(equals + 1) + value;
                QStringList damaged;
                const QString path = text(folder / ("s" + std::to_string(number++) + ".ini"));
                const Settings settings =
                    load(writeText(path.toStdString(), changed.join('\n').toStdString()), damaged);
                const CompositeParams& params = settings.params;
                for (const float share : {params.threshold, params.softness, params.lightWrap, params.temporalSmoothing,
                                          params.background.position}) {
                    QVERIFY(share >= 0 && share <= 1);
                }
                QVERIFY(params.background.blurStrength >= 1 && params.background.blurStrength <= 100);
                QVERIFY(std::abs(params.transform.x) <= 1 && std::abs(params.transform.y) <= 1);
                QVERIFY(params.transform.scale >= 0.25F && params.transform.scale <= 4);
                QVERIFY(!settings.openFolder.contains(QChar::ReplacementCharacter));
                QCOMPARE(settings.live.profiles.size(), 1);
                QFile::remove(path);
            }
        }
        QVERIFY(number > 300);
    }
};

int runSettingsTests(int argc, char** argv) {
    SettingsTest tests;
    return QTest::qExec(&tests, argc, argv);
}

}  // namespace matte::test

#include "settings_test.moc"
