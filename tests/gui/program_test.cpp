// SPDX-License-Identifier: Apache-2.0
// The window's program as the desktop meets it: how it ends by a signal, without a display, and with its display gone.
#include <QFile>
#include <QStandardPaths>
#include <QTest>

#include <csignal>

#include <unistd.h>

#include "inference/core/exit_code.h"
#include "tests/gui/groups.h"
#include "tests/support/files/model_file.h"
#include "tests/support/files/scratch_folder.h"
#include "tests/support/running/program.h"

namespace matte::test {
namespace {

/// The program with a small model and settings of its own.
struct Matte {
    explicit Matte(const std::map<std::string, std::string>& environment = {}, std::vector<std::string> more = {})
        : program(words(std::move(more)), environment) {}

    [[nodiscard]] std::vector<std::string> words(std::vector<std::string> more) const {
        const std::string model = (folder / "tiny.safetensors").string();
        writeModel(model, randomUNet({4, 8, 16}, 1));
        more.insert(more.begin(),
                    {MATTE_PROGRAM, "--config", settings.toStdString(), "--model", model, "--engine", "cpu"});
        return more;
    }
    /// Its window stands there, so that it has a size to remember.
    [[nodiscard]] bool isShown() const { return contents().contains("geometry=@ByteArray"); }
    [[nodiscard]] QByteArray contents() const {
        QFile file(settings);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

    ScratchFolder folder;
    QString settings = QString::fromStdString((folder / "settings.ini").string());
    Program program;
};

}  // namespace

class ProgramTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void aSignalClosesIt_data() {
        QTest::addColumn<int>("signal");
        QTest::newRow("SIGTERM") << SIGTERM;
        QTest::newRow("SIGINT") << SIGINT;
        QTest::newRow("SIGHUP") << SIGHUP;
    }
    void aSignalClosesIt() {
        QFETCH(int, signal);
        Matte matte({}, {"--source", "test:person:160x120@10"});
        QTRY_VERIFY_WITH_TIMEOUT(matte.isShown(), 60'000);
        matte.program.send(signal);
        const Outcome outcome = matte.program.wait();
        QCOMPARE(outcome.signal, 0);
        QCOMPARE(outcome.exitCode, int(kExitOk));
        QVERIFY(matte.contents().contains("test:person:160x120@10"));
    }

    void withoutADisplayItSaysSo_data() {
        QTest::addColumn<QString>("platform");
        QTest::addColumn<QString>("part");
        QTest::newRow("an X server that is not there") << "xcb"
                                                       << ":9999";
        QTest::newRow("a platform that is not there") << "nosuch"
                                                      << "nosuch";
        QTest::newRow("Wayland that is not there") << "wayland"
                                                   << "";
    }
    void withoutADisplayItSaysSo() {
        QFETCH(QString, platform);
        QFETCH(QString, part);
        Matte matte({{"QT_QPA_PLATFORM", platform.toStdString()}, {"DISPLAY", ":9999"}, {"WAYLAND_DISPLAY", "none"}});
        const Outcome outcome = matte.program.wait();
        QCOMPARE(outcome.signal, 0);
        QCOMPARE(outcome.exitCode, int(kExitEngine));
        const QString said = QString::fromStdString(outcome.err);
        // Wayland's library has a word of its own before.
        QVERIFY2(said.contains("matte: No window can be opened here (") && said.contains(part), qPrintable(said));
        QCOMPARE(said.count("matte: "), 1);
    }

    void aDisplayThatGoesAwayCostsNothing() {
        const QString server = QStandardPaths::findExecutable("Xvfb");
        if (server.isEmpty()) QSKIP("There is no Xvfb to end.");
        int number[2] = {};
        QVERIFY(::pipe(number) == 0);
        auto screen = std::make_unique<Program>(std::vector<std::string>{server.toStdString(), "-displayfd",
                                                                         std::to_string(number[1]), "-screen", "0",
                                                                         "800x600x24", "+extension", "GLX"});
        ::close(number[1]);
        char text[16] = {};
        QVERIFY(::read(number[0], text, sizeof text - 1) > 0);
        Matte matte({{"DISPLAY", ":" + std::to_string(std::atoi(text))}});
        QTRY_VERIFY_WITH_TIMEOUT(matte.isShown(), 60'000);
        screen.reset();
        const Outcome outcome = matte.program.wait();
        ::close(number[0]);
        QCOMPARE(outcome.signal, 0);
        QCOMPARE(outcome.exitCode, int(kExitEngine));
        QVERIFY2(outcome.err.find("matte: The display is gone") != std::string::npos, outcome.err.c_str());
        QVERIFY(matte.isShown());
    }
};

int runProgramTests(int argc, char** argv) {
    ProgramTest tests;
    return QTest::qExec(&tests, argc, argv);
}

}  // namespace matte::test

#include "program_test.moc"
