// SPDX-License-Identifier: Apache-2.0
// The parameters in the window: their controls, undo, and what is remembered.
#include <QAbstractButton>
#include <QButtonGroup>
#include <QLabel>
#include <QSlider>
#include <QStyleOptionSlider>
#include <QTest>

#include <cstdlib>

#include "gui/live/profiles.h"
#include "gui/panels/params_panel.h"
#include "gui/photo/background_chooser.h"
#include "gui/widgets/slider_row.h"
#include "gui/widgets/toggle.h"
#include "tests/gui/groups.h"
#include "tests/gui/window_fixture.h"

namespace matte::test {
namespace {

void dragSlider(QSlider& slider, const std::vector<int>& values) {
    QStyleOptionSlider option;
    option.initFrom(&slider);
    option.orientation = slider.orientation();
    option.minimum = slider.minimum();
    option.maximum = slider.maximum();
    const auto at = [&](int value) {
        option.sliderPosition = option.sliderValue = value;
        return slider.style()->subControlRect(QStyle::CC_Slider, &option, QStyle::SC_SliderHandle, &slider).center();
    };
    QTest::mousePress(&slider, Qt::LeftButton, {}, at(slider.value()));
    for (const int value : values) {
        QTest::mouseMove(&slider, at(value));
        QCoreApplication::processEvents();
    }
    QTest::mouseRelease(&slider, Qt::LeftButton, {}, at(values.back()));
}

/// Matte was started again after its background picture sea.png went away, and has said so.
void loseBackground(WindowFixture& fixture) {
    fixture.window->backgrounds().choose(writePhoto(fixture.folder / "sea.png", {9, 9}));
    QTRY_VERIFY(fixture.window->document().params().background.image != nullptr);
    std::filesystem::remove(fixture.folder / "sea.png");
    fixture.restart();
    QTRY_VERIFY(fixture.hasError());
}

}  // namespace

class ParamsTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void theNotesSayWhatHoldsInTheMode() {
        WindowFixture fixture;
        ParamsPanel& panel = fixture.window->panel();
        const auto noteOf = [&](Background::Kind kind) {
            panel.kinds().button(int(kind))->click();
            for (const auto* label : panel.findChildren<QLabel*>("muted")) {
                // Of two lines or three: none is cut off.
                if (label->isVisible() && label->height() >= label->heightForWidth(label->width()))
                    return label->text();
            }
            return QString();
        };
        QTRY_VERIFY(noteOf(Background::Kind::blur).contains("photo"));
        QTRY_VERIFY(noteOf(Background::Kind::transparent).contains("JPEG"));
        fixture.window->setMode(Mode::live);
        QTRY_VERIFY(noteOf(Background::Kind::transparent).contains("Snapshots"));
        QTRY_VERIFY(noteOf(Background::Kind::blur).contains("camera"));
    }

    void aSliderDragIsOneStepAndNoSecondNetworkRun() {
        WindowFixture fixture;
        fixture.open();
        const int before = fixture.log.composites;
        SliderRow& strength = fixture.window->panel().slider(ParamControl::blurStrength);
        const auto shows = [&fixture](int value) { return fixture.shownColor() == QColor(value, value, value); };
        dragSlider(strength.slider(), {55, 60, 70, 80});
        const int high = strength.value();
        QVERIFY(std::abs(high - 80) <= 1);
        QTRY_VERIFY(shows(high));
        QVERIFY(fixture.log.composites > before);
        QCOMPARE(fixture.log.cutOuts.load(), 1);
        QCOMPARE(fixture.window->document().undoStack().count(), 1);
        dragSlider(strength.slider(), {70, 20});
        const int low = strength.value();
        QCOMPARE(fixture.window->document().undoStack().count(), 2);
        QTest::keyClick(fixture.window.get(), Qt::Key_Z, Qt::ControlModifier);
        QTRY_VERIFY(shows(high));
        QCOMPARE(strength.value(), high);
        QTest::keyClick(fixture.window.get(), Qt::Key_Z, Qt::ControlModifier);
        QTRY_VERIFY(shows(50));
        QTest::keyClick(fixture.window.get(), Qt::Key_Y, Qt::ControlModifier);
        QTest::keyClick(fixture.window.get(), Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
        QTRY_VERIFY(shows(low));
        QCOMPARE(fixture.log.cutOuts.load(), 1);
    }

    void everyControlReachesTheParams() {
        WindowFixture fixture;
        fixture.open();
        ParamsPanel& panel = fixture.window->panel();
        QCOMPARE(panel.slider(ParamControl::softness).value(), 100);
        panel.slider(ParamControl::threshold).slider().setValue(30);
        panel.slider(ParamControl::softness).slider().setValue(10);
        QTest::mouseClick(&panel.toggle(ParamControl::decontaminate), Qt::LeftButton);
        panel.kinds().button(int(Background::Kind::color))->click();
        const CompositeParams& params = fixture.window->document().params();
        QCOMPARE(params.threshold, 0.3F);
        QCOMPARE(params.softness, 0.1F);
        QVERIFY(!params.decontaminate);
        QTRY_COMPARE(fixture.shownColor(), QColor(0, 177, 64));
        fixture.window->actions()[ActionId::resetParams]->trigger();
        QVERIFY(params == CompositeParams{});
        QCOMPARE(panel.slider(ParamControl::threshold).value(), 50);
        QCOMPARE(panel.slider(ParamControl::softness).value(), 100);
        fixture.window->document().undo();
        QCOMPARE(panel.slider(ParamControl::softness).value(), 10);
    }

    void aBackgroundPictureIsReadAndUndone() {
        WindowFixture fixture;
        fixture.open();
        fixture.window->backgrounds().choose(writePhoto(fixture.folder / "sea.png", {9, 9}, {1, 99, 120}));
        QTRY_COMPARE(fixture.shownColor(), QColor(1, 99, 120));
        fixture.window->backgrounds().choose(writeText(fixture.folder / "bad.png", "x"));
        QTRY_VERIFY(fixture.hasError());
        QVERIFY(fixture.window->document().params().background.imagePath.ends_with("sea.png"));
        fixture.window->document().undo();
        QVERIFY(fixture.window->document().params() == CompositeParams{});
    }

    void theBackgroundPictureLiesWhereItIsPut() {
        WindowFixture fixture;
        fixture.open();
        ParamsPanel& panel = fixture.window->panel();
        fixture.window->backgrounds().choose(writePhoto(fixture.folder / "tower.png", {9, 90}));
        QTRY_VERIFY(panel.slider(ParamControl::picturePosition).isVisible());
        const Background& background = fixture.window->document().params().background;
        QCOMPARE(panel.slider(ParamControl::picturePosition).value(), 50);
        panel.slider(ParamControl::picturePosition).slider().setValue(100);
        QCOMPARE(background.position, 1.0F);
        fixture.window->document().undo();
        QCOMPARE(panel.slider(ParamControl::picturePosition).value(), 50);
        panel.placements().button(int(Placement::stretch))->click();
        QCOMPARE(background.placement, Placement::stretch);
        QVERIFY2(!panel.slider(ParamControl::picturePosition).isEnabled(),
                 "a stretched picture has nowhere else to lie");
    }

    void theParamsAndTheWindowComeBack() {
        WindowFixture fixture;
        fixture.window->resize(1111, 777);
        fixture.open();
        fixture.window->backgrounds().choose(writePhoto(fixture.folder / "sea.png", {9, 9}, {1, 99, 120}));
        QTRY_VERIFY(fixture.window->document().params().background.image != nullptr);
        fixture.window->panel().slider(ParamControl::threshold).slider().setValue(31);
        QTest::keyClick(fixture.window.get(), Qt::Key_S);
        QTest::keyClick(fixture.window.get(), Qt::Key_F9);
        fixture.menuAction("Dark")->trigger();
        QVERIFY(fixture.window->palette().color(QPalette::Window).lightness() < 80);
        fixture.restart();
        QCOMPARE(fixture.window->size(), QSize(1111, 777));
        QCOMPARE(fixture.window->panel().slider(ParamControl::threshold).value(), 31);
        QVERIFY(!fixture.window->panel().isVisible());
        QVERIFY(!fixture.window->actions()[ActionId::split]->isChecked());
        QVERIFY(fixture.menuAction("Dark")->isChecked());
        QTRY_VERIFY(fixture.window->document().params().background.image != nullptr);
        QVERIFY(!fixture.window->document().undoStack().canUndo());
    }

    void aBackgroundThatIsGoneIsToldAndReplaced() {
        WindowFixture fixture;
        loseBackground(fixture);
        // By a colour: the blurred room would show more than the user chose to.
        QVERIFY(fixture.window->document().params().background.kind == Background::Kind::color);
        fixture.restart();
        QTRY_VERIFY(fixture.hasError());  // it is still asked for: the file may be back
    }

    void aColourInPlaceOfABackgroundThatIsGoneIsKept() {
        WindowFixture fixture;
        loseBackground(fixture);
        fixture.window->document().edit(ParamControl::color, [](CompositeParams& params) {
            params.background.color = {7, 8, 9};
        });
        fixture.restart();
        QVERIFY(fixture.window->settings().params.background.kind == Background::Kind::color);
    }

    void aProfileOfTheSameColourAsInPlaceOfABackgroundThatIsGoneIsKept() {
        WindowFixture fixture;
        loseBackground(fixture);
        CompositeParams green;
        green.background.kind = Background::Kind::color;
        fixture.window->profiles().keep({"Green", green, {}});
        fixture.window->applyProfile(0);
        fixture.restart();
        QVERIFY(fixture.window->settings().params.background.kind == Background::Kind::color);
    }

    void aBackgroundThatIsGoneIsRememberedUntilAnotherIsChosen() {
        WindowFixture fixture;
        loseBackground(fixture);
        fixture.window->panel().kinds().button(int(Background::Kind::blur))->click();
        fixture.window->document().undo();  // not chosen after all
        writePhoto(fixture.folder / "sea.png", {9, 9});
        fixture.restart();
        QTRY_VERIFY(fixture.window->document().params().background.image != nullptr);
    }

    void aPictureThatIsBeingReadAsTheWindowClosesIsRemembered() {
        WindowFixture fixture;
        fixture.window->backgrounds().choose(writePhoto(fixture.folder / "sea.png", {9, 9}));
        fixture.restart();
        QTRY_VERIFY(fixture.window->document().params().background.image != nullptr);
    }

    void aRememberedPictureThatComesLateLeavesANewerChoice() {
        WindowFixture fixture;
        fixture.window->backgrounds().choose(writePhoto(fixture.folder / "sea.png", {9, 9}));
        QTRY_VERIFY(fixture.window->document().params().background.image != nullptr);
        fixture.window->close();
        fixture.window = std::make_unique<MainWindow>(fakeEngine(fixture.log), *fixture.store, fixture.startup);
        fixture.window->panel().kinds().button(int(Background::Kind::blur))->click();
        fixture.showWindow();
        fixture.open();  // after the picture
        QTRY_COMPARE(fixture.shownColor(), QColor(50, 50, 50));
        QVERIFY(fixture.window->document().params().background.kind == Background::Kind::blur);
    }
};

int runParamsTests(int argc, char** argv) {
    ParamsTest test;
    return QTest::qExec(&test, argc, argv);
}

}  // namespace matte::test

#include "params_test.moc"
