// SPDX-License-Identifier: Apache-2.0
// The main window as a user meets it: opening, dropping, pasting, what goes wrong, views, keys.
#include <QAbstractButton>
#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QColorSpace>
#include <QDropEvent>
#include <QMenuBar>
#include <QMimeData>
#include <QSlider>
#include <QSpinBox>
#include <QTest>
#include <QUrl>

#include <cmath>
#include <limits>

#include "gui/panels/params_panel.h"
#include "gui/photo/photo_control.h"
#include "gui/widgets/banner.h"
#include "gui/widgets/progress_pill.h"
#include "gui/widgets/slider_row.h"
#include "gui/window/canvas.h"
#include "gui/window/status_line.h"
#include "gui/window/viewport.h"
#include "inference/cpu/cpu_engine.h"
#include "inference/model/safetensors.h"
#include "tests/gui/groups.h"
#include "tests/gui/window_fixture.h"
#include "tests/support/files/model_file.h"

namespace matte::test {
namespace {

void drop(QWidget& onto, const QMimeData& data) {
    const QPoint at = onto.rect().center();
    QDragEnterEvent enter(at, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&onto, &enter);
    QVERIFY(enter.isAccepted());
    QDropEvent event(at, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&onto, &event);
}

}  // namespace

class WindowTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void opensAPhoto() {
        WindowFixture fixture;
        QVERIFY(fixture.window->canvas().welcoming());
        QVERIFY(!fixture.window->actions()[ActionId::exportPicture]->isEnabled());
        fixture.open();
        QVERIFY(!fixture.window->canvas().welcoming());
        QVERIFY(fixture.window->actions()[ActionId::exportPicture]->isEnabled());
        QTRY_COMPARE(fixture.shownColor(), QColor(50, 50, 50));
        const QString status = fixture.window->status().text();
        for (const char* part :
             {"photo.png", "64 × 48", "Network 30 ms", "Composite", "Fake engine", "no better one"}) {
            QVERIFY2(status.contains(part), qPrintable(status));
        }
    }

    void takesADroppedFile() {
        WindowFixture fixture;
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(fixture.photo)});
        drop(*fixture.window, data);
        QTRY_COMPARE(fixture.window->document().photo().path, fixture.photo);
    }

    void takesPastedPixelsAndFiles() {
        WindowFixture fixture;
        QImage pixels(20, 10, QImage::Format_RGB32);
        pixels.fill(QColor(200, 100, 50));
        pixels.setColorSpace(QColorSpace::DisplayP3);
        QApplication::clipboard()->setImage(pixels);
        QTest::keyClick(fixture.window.get(), Qt::Key_V, Qt::ControlModifier);
        QTRY_VERIFY(fixture.window->document().isOpen());
        QVERIFY((fixture.window->document().photo().image->size() == Size{20, 10}));
        const std::uint8_t* pixel = fixture.window->document().photo().image->row(0);
        QVERIFY(std::abs(pixel[0] - 215) <= 1 && std::abs(pixel[1] - 93) <= 1);  // more red in sRGB than in Display P3
        auto* file = new QMimeData;
        file->setUrls({QUrl::fromLocalFile(fixture.photo)});
        QApplication::clipboard()->setMimeData(file);
        QTest::keyClick(fixture.window.get(), Qt::Key_V, Qt::ControlModifier);
        QTRY_COMPARE(fixture.window->document().photo().path, fixture.photo);
        QApplication::clipboard()->setText("words");
        QTest::keyClick(fixture.window.get(), Qt::Key_V, Qt::ControlModifier);
        QVERIFY(fixture.hasError() && fixture.banner().contains("no picture"));
    }

    void aBadFileShowsABannerAndChangesNothing_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QByteArray>("content");
        QTest::newRow("text") << "text.jpg" << QByteArray("hello");
        QTest::newRow("empty") << "empty.png" << QByteArray();
        QTest::newRow("truncated") << "cut.png" << QByteArray("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16);
        QTest::newRow("missing") << QString() << QByteArray();
    }
    void aBadFileShowsABannerAndChangesNothing() {
        QFETCH(QString, name);
        QFETCH(QByteArray, content);
        WindowFixture fixture;
        fixture.open();
        fixture.window->panel().slider(ParamControl::threshold).slider().setValue(40);
        const auto image = fixture.window->document().photo().image;
        const auto bad = name.isEmpty() ? QString::fromStdString((fixture.folder / "no such.png").string())
                                        : writeText(fixture.folder / name.toStdString(), content.toStdString());
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(bad)});
        drop(*fixture.window, data);
        QTRY_VERIFY(fixture.hasError());
        QVERIFY(fixture.window->document().photo().image == image);
        QVERIFY(fixture.window->document().undoStack().canUndo());
        QCOMPARE(fixture.log.cutOuts.load(), 1);
        QCOMPARE(fixture.window->settings().recentFiles, QStringList{fixture.photo});
        QTest::keyClick(fixture.window.get(), Qt::Key_Escape);
        QVERIFY(!fixture.hasError());
    }

    void escCancelsWhatIsWaitedFor() {
        WindowFixture fixture;
        fixture.open();
        fixture.log.stallCutOut = true;
        fixture.window->photos().open(PhotoSource::fromFile(writePhoto(fixture.folder / "b.png")));
        QTRY_VERIFY(fixture.window->canvas().progress().isVisible());
        QTRY_COMPARE(fixture.log.cutOuts.load(), 2);
        QTest::keyClick(fixture.window.get(), Qt::Key_Escape);
        QTRY_VERIFY(!fixture.window->canvas().progress().isVisible());
        QCOMPARE(fixture.window->document().photo().path, fixture.photo);
        QVERIFY(!fixture.hasError());
    }

    void severalFilesAreRefusedTogether() {
        WindowFixture fixture;
        fixture.open();
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(writePhoto(fixture.folder / "b.png")),
                      QUrl::fromLocalFile(writePhoto(fixture.folder / "c.png"))});
        drop(*fixture.window, data);
        QVERIFY(fixture.hasError() && fixture.banner().contains("one file at a time"));
        QCOMPARE(fixture.window->document().photo().path, fixture.photo);
    }

    void aModelWithNanShowsABanner() {
        const ScratchFolder models;
        ModelTensors tensors = randomUNet({4, 8, 16}, 1);
        tensors.begin()->second.values[0] = std::numeric_limits<float>::quiet_NaN();
        writeModel(models / "nan.safetensors", tensors);
        WindowFixture fixture([path = models / "nan.safetensors"] {
            return std::make_unique<CpuEngine>(UNet::load(Safetensors::read(path)), EngineOptions{}, "");
        });
        QTRY_VERIFY(fixture.hasError());
        fixture.window->canvas().banner().dismiss();
        fixture.window->photos().open(PhotoSource::fromFile(fixture.photo));
        QTRY_VERIFY(fixture.hasError());
        QVERIFY2(fixture.banner().contains("nan.safetensors"), qPrintable(fixture.banner()));
        QVERIFY(!fixture.window->document().isOpen());
        QVERIFY(fixture.window->canvas().welcoming());
    }

    void recentFilesAreOfferedAndKept() {
        WindowFixture fixture;
        fixture.open();
        const QString second = writePhoto(fixture.folder / "second.png");
        fixture.open(second);
        QCOMPARE(fixture.window->settings().recentFiles, (QStringList{second, fixture.photo}));
        fixture.restart();
        QCOMPARE(fixture.window->settings().recentFiles, (QStringList{second, fixture.photo}));
        fixture.menuAction("photo.png")->trigger();
        QTRY_COMPARE(fixture.window->document().photo().path, fixture.photo);
        fixture.menuAction("Clear the List")->trigger();
        QVERIFY(fixture.window->settings().recentFiles.isEmpty());
    }

    void viewsAreCycledAndTheOriginalHeld() {
        WindowFixture fixture;
        fixture.open();
        fixture.window->actions()[ActionId::split]->setChecked(false);
        MainWindow& window = *fixture.window;
        const auto next = [&] { QTest::keyClick(&window, Qt::Key_F); };
        next();
        QTRY_COMPARE(fixture.shownColor(), QColor(127, 127, 127));
        next();
        QTRY_COMPARE(fixture.shownColor(), QColor(0, 0, 0));
        next();
        QTRY_COMPARE(fixture.shownColor(), QColor(255, 255, 255));
        next();
        const QColor original(kPhotoColor.r, kPhotoColor.g, kPhotoColor.b);
        QTRY_COMPARE(fixture.shownColor(), original);
        next();
        QTRY_COMPARE(fixture.shownColor(), QColor(50, 50, 50));
        QVERIFY(window.photos().showing() == Showing::result);
        QTest::keyPress(&window, Qt::Key_O);
        QTRY_COMPARE(fixture.shownColor(), original);
        QTest::keyRelease(&window, Qt::Key_O);
        QTRY_COMPARE(fixture.shownColor(), QColor(50, 50, 50));
    }

    void keysZoom() {
        WindowFixture fixture;
        fixture.open(writePhoto(fixture.folder / "large.png", {3000, 2000}));
        MainWindow& window = *fixture.window;
        const double fitted = window.canvas().viewport().zoom();
        QVERIFY(fitted < 0.5);
        QTest::keyClick(&window, Qt::Key_0, Qt::ControlModifier | Qt::AltModifier);
        QCOMPARE(window.canvas().viewport().zoom(), 1.0);
        QTRY_VERIFY(fixture.log.fullSize == 1);  // only now is the full size worth its time
        QTest::keyClick(&window, Qt::Key_Plus, Qt::ControlModifier);
        QVERIFY(window.canvas().viewport().zoom() > 1);
        QTest::keyClick(&window, Qt::Key_0, Qt::ControlModifier);
        QCOMPARE(window.canvas().viewport().zoom(), fitted);
    }

    void everyControlHasAName() {
        WindowFixture fixture;
        fixture.open();
        int controls = 0;
        for (const QWidget* widget : fixture.window->findChildren<QWidget*>()) {
            const bool control = qobject_cast<const QAbstractButton*>(widget) || qobject_cast<const QSlider*>(widget) ||
                                 qobject_cast<const QSpinBox*>(widget) || qobject_cast<const Viewport*>(widget);
            if (!control || widget->objectName().startsWith("qt_")) continue;
            const auto* button = qobject_cast<const QAbstractButton*>(widget);
            const bool named = !widget->accessibleName().isEmpty() || (button && !button->text().isEmpty());
            QVERIFY2(named, qPrintable(QString(widget->metaObject()->className()) + " " + widget->toolTip()));
            ++controls;
        }
        QVERIFY(controls > 30);
    }
};

int runWindowTests(int argc, char** argv) {
    WindowTest test;
    return QTest::qExec(&test, argc, argv);
}

}  // namespace matte::test

#include "window_test.moc"
