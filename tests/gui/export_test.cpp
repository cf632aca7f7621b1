// SPDX-License-Identifier: Apache-2.0
// What leaves the window: files and the clipboard.
#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QSlider>
#include <QTest>
#include <QTimer>

#include <cstdlib>
#include <vector>

#include "gui/app/file_dialogs.h"
#include "gui/panels/params_panel.h"
#include "gui/photo/background_chooser.h"
#include "gui/photo/photo_control.h"
#include "gui/widgets/banner.h"
#include "gui/widgets/slider_row.h"
#include "gui/window/canvas.h"
#include "inference/media/image/image_file.h"
#include "tests/gui/groups.h"
#include "tests/gui/window_fixture.h"
#include "tests/support/files/model_file.h"

namespace matte::test {
namespace {

CompositeParams transparent() {
    CompositeParams params;
    params.background.kind = Background::Kind::transparent;
    return params;
}

}  // namespace

class ExportTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void writesThePictureInFull() {
        WindowFixture fixture;
        fixture.open(writePhoto(fixture.folder / "large.png", {3001, 2003}));
        fixture.window->panel().slider(ParamControl::blurStrength).slider().setValue(77);
        for (const char* name : {"out.png", "out.jpg", "out.webp", "out.tif"}) {
            const auto path = fixture.folder / name;
            fixture.window->photos().exportTo(QString::fromStdString(path.string()),
                                              fixture.window->document().photo().number);
            QTRY_VERIFY2(std::filesystem::exists(path) && fixture.banner().contains(name), name);
            const auto written = readImage(path);
            QVERIFY((written->size() == Size{3001, 2003}));
            QVERIFY(std::abs(written->row(1000)[4 * 1500] - 77) <= 1);
            QCOMPARE(int(written->row(1000)[4 * 1500 + 3]), 255);
        }
        QVERIFY(!fixture.hasError());
        QCOMPARE(fixture.log.cutOuts.load(), 1);
    }

    void keepsTransparencyAndSaysWhenItCannot() {
        WindowFixture fixture;
        fixture.open();
        fixture.window->document().edit(transparent(), ParamControl::background);
        fixture.window->photos().exportTo(QString::fromStdString((fixture.folder / "out.png").string()),
                                          fixture.window->document().photo().number);
        QTRY_VERIFY(fixture.banner().contains("out.png"));
        QCOMPARE(int(readImage(fixture.folder / "out.png")->row(0)[3]), 128);
        fixture.window->photos().exportTo(QString::fromStdString((fixture.folder / "out.jpg").string()),
                                          fixture.window->document().photo().number);
        QTRY_VERIFY(fixture.banner().contains("JPEG has no transparency"));
    }

    void refusesToOverwriteThePhoto_data() {
        QTest::addColumn<QString>("through");
        QTest::newRow("its path") << "photo.png";
        QTest::newRow("another spelling") << "../@/photo.png";
        QTest::newRow("a symbolic link") << "link.png";
        QTest::newRow("a hard link") << "hard.png";
    }
    void refusesToOverwriteThePhoto() {
        QFETCH(QString, through);
        WindowFixture fixture;
        fixture.open();
        std::filesystem::create_symlink(fixture.folder / "photo.png", fixture.folder / "link.png");
        std::filesystem::create_hard_link(fixture.folder / "photo.png", fixture.folder / "hard.png");
        through.replace("@", QString::fromStdString(fixture.folder.path().filename().string()));
        const auto before = readBytes(fixture.folder / "photo.png");
        fixture.window->photos().exportTo(QString::fromStdString((fixture.folder / through.toStdString()).string()),
                                          fixture.window->document().photo().number);
        QTRY_VERIFY(fixture.hasError());
        QVERIFY2(fixture.banner().contains("overwrite the photo"), qPrintable(fixture.banner()));
        QVERIFY(readBytes(fixture.folder / "photo.png") == before);
        QVERIFY(std::filesystem::is_symlink(fixture.folder / "link.png"));
    }

    void refusesToOverwriteTheModelAndTheBackground() {
        WindowFixture fixture;
        const std::filesystem::path model = fixture.folder / "model.safetensors";
        writeText(model, "a model");
        fixture.startup.models = {model};
        fixture.restart();
        fixture.open();
        std::filesystem::create_symlink(model, fixture.folder / "model.png");
        const QString sea = writePhoto(fixture.folder / "sea.png");
        fixture.window->backgrounds().choose(sea);
        QTRY_VERIFY(!fixture.window->backgrounds().isReading());
        for (const char* name : {"model.png", "sea.png"}) {
            const auto before = readBytes(fixture.folder / name);
            fixture.window->canvas().banner().dismiss();
            fixture.window->photos().exportTo(QString::fromStdString((fixture.folder / name).string()),
                                              fixture.window->document().photo().number);
            QTRY_VERIFY(fixture.hasError());
            QVERIFY2(fixture.banner().contains("would replace a file that is read"), qPrintable(fixture.banner()));
            QVERIFY(readBytes(fixture.folder / name) == before);
        }
        QVERIFY(std::filesystem::is_symlink(fixture.folder / "model.png"));
    }

    /// The dialog itself asks about the name as it was typed only, and ours has an extension more.
    void asksBeforeItReplacesAFileOfACompletedName() {
        WindowFixture fixture;
        fixture.showWindow();
        QString folder = QString::fromStdString(fixture.folder.path().string());
        writeText(fixture.folder / "beach.png", "another picture");
        std::vector<QMessageBox::StandardButton> answers{QMessageBox::Yes, QMessageBox::No};
        QStringList typed{"beach", "beach"};
        QTimer user;
        QObject::connect(&user, &QTimer::timeout, [&] {
            if (auto* question = qobject_cast<QMessageBox*>(QApplication::activeModalWidget())) {
                if (answers.empty()) return question->reject();
                const auto answer = answers.back();
                answers.pop_back();
                question->button(answer)->click();
            } else if (auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget())) {
                if (typed.isEmpty()) return dialog->reject();
                dialog->findChild<QLineEdit*>("fileNameEdit")->setText(typed.takeFirst());
                QMetaObject::invokeMethod(dialog, "accept");
            }
        });
        user.start(20);
        const QString path = askForExport(fixture.window.get(), folder, "photo.jpg", false);
        QCOMPARE(QFileInfo(path).fileName(), QString("beach.png"));
        QVERIFY2(answers.empty(), "it asked twice: no, and with the same name again, yes");
        typed = {"hill"};
        QCOMPARE(QFileInfo(askForExport(fixture.window.get(), folder, "photo.jpg", false)).fileName(),
                 QString("hill.png"));
    }

    void aFailedExportLeavesNothingBehind() {
        WindowFixture fixture;
        fixture.open();
        const auto before = fixture.folder.names();
        for (const char* name : {"no such folder/out.png", "out.xyz"}) {
            fixture.window->photos().exportTo(QString::fromStdString((fixture.folder / name).string()),
                                              fixture.window->document().photo().number);
            QTRY_VERIFY2(fixture.hasError(), name);
            QTest::keyClick(fixture.window.get(), Qt::Key_Escape);
        }
        QCOMPARE(fixture.folder.names(), before);
        QVERIFY(fixture.window->document().isOpen());
    }

    void copiesTheCutOutWithItsTransparency() {
        WindowFixture fixture;
        fixture.open();
        QTest::keyClick(fixture.window.get(), Qt::Key_C, Qt::ControlModifier);
        QTRY_VERIFY(fixture.banner().contains("with its transparency"));
        QImage copied = QApplication::clipboard()->image();
        QCOMPARE(copied.size(), QSize(64, 48));
        QCOMPARE(copied.pixelColor(5, 5), QColor(255, 0, 0, 128));
        QTest::keyClick(fixture.window.get(), Qt::Key_C, Qt::ControlModifier | Qt::ShiftModifier);
        QTRY_COMPARE(QApplication::clipboard()->image().pixelColor(5, 5), QColor(50, 50, 50));
        QVERIFY(fixture.window->document().params() == CompositeParams{});
    }
};

int runExportTests(int argc, char** argv) {
    ExportTest test;
    return QTest::qExec(&test, argc, argv);
}

}  // namespace matte::test

#include "export_test.moc"
