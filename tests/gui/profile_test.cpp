// SPDX-License-Identifier: Apache-2.0
// Profiles: parameters and sources under a key.
#include <QAbstractButton>
#include <QApplication>
#include <QButtonGroup>
#include <QDialog>
#include <QInputDialog>
#include <QMessageBox>
#include <QPushButton>
#include <QTest>
#include <QTimer>

#include <future>

#include "gui/live/live_control.h"
#include "gui/live/profiles.h"
#include "gui/panels/params_panel.h"
#include "gui/photo/background_chooser.h"
#include "tests/gui/groups.h"
#include "tests/gui/live_fixture.h"

namespace matte::test {
namespace {

CompositeParams withThreshold(float value) {
    CompositeParams params;
    params.threshold = value;
    return params;
}

LiveSource named(const std::string& name) {
    LiveSource source;
    source.spec.name = name;
    return source;
}

/// A window that has just started, with a profile whose picture was not read yet, and the pictures read since.
struct PictureProfile {
    PictureProfile() {
        CompositeParams params = withThreshold(0.3F);
        params.fineDetail = true;
        params.background.kind = Background::Kind::image;
        params.background.imagePath = sea;
        params.background.placement = Placement::fit;
        params.background.position = 0.2F;
        params.background.blurStrength = 0.05F;
        params.background.color = {1, 2, 3};
        live.window().profiles().keep({"Evening", params, {}});
        live.base.restart();
        QObject::connect(&live.window().session(), &PhotoSession::backgroundLoaded, &live.window(), [this] { ++read; });
    }
    /// Another window, whose session is busy until the promise is kept.
    void beginBusyWith(std::promise<void>& busy) {
        WindowFixture& base = live.base;
        const auto factory = [&base, ready = busy.get_future().share()] {
            ready.wait();
            return fakeEngine(base.log)();
        };
        base.window = std::make_unique<MainWindow>(factory, *base.store, base.startup);
        base.showWindow();
    }
    void apply() { live.press(Qt::Key_1, Qt::ControlModifier); }
    [[nodiscard]] const CompositeParams& params() const { return live.window().document().params(); }
    [[nodiscard]] bool shows(const std::string& path) const {
        return params().background.kind == Background::Kind::image && params().background.imagePath == path;
    }

    LiveFixture live;
    std::string sea = writePhoto(live.base.folder / "sea.png").toStdString();
    int read = 0;
};

/// The background of the profile that the menu saves, under the name that its dialog offers.
Background saveProfile(MainWindow& window) {
    QTimer::singleShot(0, &window, [] {
        if (auto* dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget())) dialog->accept();
    });
    window.actions()[ActionId::saveProfile]->trigger();
    const QList<Profile>& profiles = window.settings().live.profiles;
    return profiles.isEmpty() ? Background{} : profiles.last().params.background;
}

bool isPicture(const Background& background, const std::string& path) {
    return background.kind == Background::Kind::image && background.imagePath == path && !background.image;
}

}  // namespace

class ProfileTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void profilesKeepParamsAndSource() {
        LiveFixture live;
        QVERIFY(live.window().profiles().keep({"Evening", withThreshold(0.3F), named("Desk")}));
        live.base.restart();
        live.press(Qt::Key_1, Qt::ControlModifier);
        QCOMPARE(live.window().document().params().threshold, 0.3F);
        QVERIFY(live.window().settings().live.source == named("Desk"));
        live.press(Qt::Key_Z, Qt::ControlModifier);
        QVERIFY(live.window().document().params().threshold != 0.3F);
        live.window().profiles().forget("Evening");
        QVERIFY(live.window().settings().live.profiles.isEmpty());
    }

    void aProfileIsReplacedOnlyWhenThatIsMeant() {
        LiveFixture live;
        Profiles& profiles = live.window().profiles();
        const QList<Profile>& kept = live.window().settings().live.profiles;
        profiles.keep({"Profile 2", withThreshold(0.3F), {}});
        saveProfile(live.window());
        saveProfile(live.window());
        QCOMPARE(kept.size(), 3);  // a name that is free is offered
        QVERIFY(kept[1].name == "Profile 1" && kept[2].name == "Profile 3");
        QStringList typed{"Profile 2", "Noon"};
        QTimer user;
        QObject::connect(&user, &QTimer::timeout, [&typed] {
            if (auto* question = qobject_cast<QMessageBox*>(QApplication::activeModalWidget())) {
                question->defaultButton()->click();  // as Enter does
            } else if (auto* dialog = qobject_cast<QInputDialog*>(QApplication::activeModalWidget())) {
                if (typed.isEmpty()) return dialog->reject();
                dialog->setTextValue(typed.takeFirst());
                dialog->accept();
            }
        });
        user.start(20);
        live.window().actions()[ActionId::saveProfile]->trigger();
        QCOMPARE(kept.last().name, QString("Noon"));
        QCOMPARE(kept.first().params.threshold, 0.3F);
    }

    void eachKeyStaysWithItsProfile() {
        LiveFixture live;
        Profiles& profiles = live.window().profiles();
        const auto press = [&](int key) {
            live.press(key, Qt::ControlModifier);
            return live.window().document().params().threshold;
        };
        QVERIFY(profiles.keep({"Evening", withThreshold(0.3F), named("Desk")}));
        QVERIFY(profiles.keep({"Morning", withThreshold(0.4F), named("Desk")}));
        QCOMPARE(press(Qt::Key_1), 0.3F);
        QCOMPARE(press(Qt::Key_2), 0.4F);
        profiles.forget("Evening");
        QCOMPARE(press(Qt::Key_1), 0.4F);
    }

    void theKeyOfAForgottenProfileChangesNothing() {
        LiveFixture live;
        live.window().profiles().keep({"Evening", withThreshold(0.3F), named("Desk")});
        live.window().profiles().forget("Evening");
        live.window().liveControl().choose(named("Door"));
        const CompositeParams before = live.window().document().params();
        live.press(Qt::Key_1, Qt::ControlModifier);
        live.window().applyProfile(0);
        QVERIFY(live.window().document().params() == before);
        QVERIFY(live.window().settings().live.source == named("Door"));
    }

    void aPictureComesAsItWasLaidAndAsOneStep() {
        PictureProfile profile;
        const CompositeParams before = profile.params();
        profile.apply();
        QVERIFY(profile.params().background ==
                before.background);  // until the picture was read: the room stays blurred
        QTRY_VERIFY(profile.shows(profile.sea));
        QCOMPARE(profile.params().background.placement, Placement::fit);
        QCOMPARE(profile.params().background.position, 0.2F);
        QVERIFY((profile.params().background.color == Rgb{1, 2, 3}));
        profile.live.press(Qt::Key_Z, Qt::ControlModifier);
        QVERIFY(profile.params() == before);
        profile.live.press(Qt::Key_Y, Qt::ControlModifier);
        QVERIFY(profile.shows(profile.sea));
    }

    void aPictureThatComesAfterAnotherStepIsPartOfTheProfilesOwn() {
        PictureProfile profile;
        Document& document = profile.live.window().document();
        const CompositeParams before = profile.params();
        profile.apply();
        document.step(ParamControl::threshold, [](CompositeParams& params) { params.threshold = 0.7F; });
        document.step(ParamControl::placement,
                      [](CompositeParams& params) { params.background.placement = Placement::stretch; });
        document.step(ParamControl::softness, [](CompositeParams& params) { params.softness = 0.1F; });
        document.undo();
        QTRY_VERIFY(profile.shows(profile.sea));
        QCOMPARE(document.undoStack().count(), 4);
        QCOMPARE(profile.params().background.placement, Placement::stretch);  // chosen after the profile
        document.undo();
        QCOMPARE(profile.params().background.placement, Placement::fit);
        document.undo();
        QVERIFY(profile.shows(profile.sea));
        QCOMPARE(profile.params().threshold, 0.3F);
        QVERIFY(profile.params().fineDetail);
        document.undo();
        QVERIFY(profile.params() == before);
        for (int i = 0; i < 4; ++i) document.redo();
        QVERIFY(profile.shows(profile.sea));
        QCOMPARE(profile.params().threshold, 0.7F);
        QCOMPARE(profile.params().background.placement, Placement::stretch);
        QCOMPARE(profile.params().softness, 0.1F);
    }

    void aPictureThatComesAfterAGestureIsPartOfTheProfilesStep() {
        PictureProfile profile;
        profile.apply();
        profile.live.window().document().finishGesture();  // a slider was pressed and let go where it was
        QTRY_VERIFY(profile.shows(profile.sea));
        QCOMPARE(profile.live.window().document().undoStack().count(), 1);
    }

    void aPictureAloneMakesAStepOfItsOwn() {
        PictureProfile profile;
        Document& document = profile.live.window().document();
        document.step(ParamControl::threshold, [](CompositeParams& params) { params.threshold = 0.3F; });
        const CompositeParams before = profile.params();
        profile.apply();  // which changes nothing else
        QTRY_VERIFY(profile.shows(profile.sea));
        QCOMPARE(document.undoStack().count(), 2);
        document.undo();
        QVERIFY(profile.params() == before);
    }

    void aPictureThatIsGoneIsKeptInAProfile() {
        WindowFixture fixture;
        const QString sea = writePhoto(fixture.folder / "sea.png");
        fixture.window->backgrounds().choose(sea);
        QTRY_VERIFY(fixture.window->document().params().background.image != nullptr);
        std::filesystem::remove(sea.toStdString());
        fixture.restart();
        QTRY_VERIFY(fixture.hasError());
        QVERIFY(fixture.window->document().params().background.kind == Background::Kind::color);  // stands in for it
        QVERIFY(isPicture(saveProfile(*fixture.window), sea.toStdString()));
    }

    void aPictureThatIsBeingReadIsKeptInAProfile() {
        PictureProfile profile;
        std::promise<void> busy;
        profile.beginBusyWith(busy);
        profile.apply();
        const Background kept = saveProfile(profile.live.window());
        QVERIFY(isPicture(kept, profile.sea));
        QCOMPARE(kept.placement, Placement::fit);
        QVERIFY((kept.color == Rgb{1, 2, 3}));
        const std::string wall = writePhoto(profile.live.base.folder / "wall.png").toStdString();
        profile.live.window().backgrounds().choose(QString::fromStdString(wall));
        QVERIFY(isPicture(saveProfile(profile.live.window()), wall));
        profile.live.window().panel().kinds().button(int(Background::Kind::blur))->click();
        QVERIFY(saveProfile(profile.live.window()).kind == Background::Kind::blur);
        busy.set_value();
    }

    void aPictureThatIsGoneLeavesTheBackgroundAsItWas() {
        PictureProfile profile;
        const Background before = profile.params().background;
        std::filesystem::remove(profile.sea);
        profile.apply();
        QTRY_VERIFY(profile.live.base.hasError());
        QVERIFY(profile.params().background == before);
        QCOMPARE(profile.params().threshold, 0.3F);
        QVERIFY(profile.params().fineDetail);
        QVERIFY(saveProfile(profile.live.window()) == before);  // nor is it kept in another profile
    }

    void aPictureThatComesLateLeavesANewerChoice() {
        PictureProfile profile;
        profile.apply();
        profile.live.window().panel().kinds().button(int(Background::Kind::blur))->click();
        QTRY_COMPARE(profile.read, 1);
        QVERIFY(profile.params().background.kind == Background::Kind::blur);
    }

    void aPictureOfAProfileThatWasUndoneStaysAway() {
        PictureProfile profile;
        const CompositeParams before = profile.params();
        profile.apply();
        profile.live.press(Qt::Key_Z, Qt::ControlModifier);
        QTRY_COMPARE(profile.read, 1);
        QVERIFY(profile.params() == before);
    }

    void ofTwoPicturesTheOneAskedForLastStays() {
        PictureProfile profile;
        const std::string wall = writePhoto(profile.live.base.folder / "wall.png").toStdString();
        profile.live.window().backgrounds().choose(QString::fromStdString(wall));
        profile.apply();
        QTRY_COMPARE(profile.read, 2);
        QVERIFY(profile.shows(profile.sea));
        QCOMPARE(profile.live.window().document().undoStack().count(), 1);
        profile.live.press(Qt::Key_Z, Qt::ControlModifier);
        profile.apply();
        profile.live.window().backgrounds().choose(QString::fromStdString(wall));
        QTRY_COMPARE(profile.read, 4);
        QVERIFY(profile.shows(wall));
    }
};

int runProfileTests(int argc, char** argv) {
    ProfileTest test;
    return QTest::qExec(&test, argc, argv);
}

}  // namespace matte::test

#include "profile_test.moc"
