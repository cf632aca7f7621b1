// SPDX-License-Identifier: Apache-2.0
// Profiles: looks and sources under a key.
#include <QTest>

#include "gui/live_control.h"
#include "gui/profiles.h"
#include "tests/gui/groups.h"
#include "tests/gui/live_fixture.h"

namespace matte::test {
namespace {

Look withThreshold(float value) {
    Look look;
    look.threshold = value;
    return look;
}

LiveSource named(const std::string& name) {
    LiveSource source;
    source.spec.name = name;
    return source;
}

}  // namespace

class ProfileTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void profilesKeepLookAndSource() {
        LiveFixture live;
        QVERIFY(live.window().profiles().keep({"Evening", withThreshold(0.3F), named("Desk")}));
        live.base.restart();
        live.press(Qt::Key_1, Qt::ControlModifier);
        QCOMPARE(live.window().document().look().threshold, 0.3F);
        QVERIFY(live.window().settings().live.source == named("Desk"));
        live.press(Qt::Key_Z, Qt::ControlModifier);
        QVERIFY(live.window().document().look().threshold != 0.3F);
        live.window().profiles().forget("Evening");
        QVERIFY(live.window().settings().live.profiles.isEmpty());
    }

    void eachKeyStaysWithItsProfile() {
        LiveFixture live;
        Profiles& profiles = live.window().profiles();
        const auto press = [&](int key) {
            live.press(key, Qt::ControlModifier);
            return live.window().document().look().threshold;
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
        const Look before = live.window().document().look();
        live.press(Qt::Key_1, Qt::ControlModifier);
        live.window().applyProfile(0);
        QVERIFY(live.window().document().look() == before);
        QVERIFY(live.window().settings().live.source == named("Door"));
    }
};

int runProfileTests(int argc, char** argv) {
    ProfileTest test;
    return QTest::qExec(&test, argc, argv);
}

}  // namespace matte::test

#include "profile_test.moc"
