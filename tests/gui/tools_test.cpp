// SPDX-License-Identifier: Apache-2.0
// The tools and menus around the picture: they look enabled where they do something, show what is chosen, and are
// reached by a mouse in windows of every width.
#include <QAbstractButton>
#include <QAbstractSlider>
#include <QAbstractSpinBox>
#include <QActionGroup>
#include <QApplication>
#include <QButtonGroup>
#include <QImage>
#include <QMenu>
#include <QMenuBar>
#include <QTest>
#include <QToolBar>
#include <QToolButton>

#include <algorithm>

#include "gui/live/live_control.h"
#include "gui/live/profiles.h"
#include "gui/panels/params_panel.h"
#include "gui/widgets/choice_menu.h"
#include "gui/window/tool_row.h"
#include "gui/window/window_bars.h"
#include "tests/gui/groups.h"
#include "tests/gui/live_fixture.h"

namespace matte::test {
namespace {

using Id = ActionId;

/// What the tool bar has in each mode; the source beside it.
QList<Id> toolsOf(Mode mode) {
    QList<Id> ids{Id::photoMode, Id::liveMode, Id::undo, Id::redo, Id::panel};
    if (mode == Mode::photo) {
        ids += {Id::open,   Id::split, Id::view,       Id::zoomOut,    Id::zoom,
                Id::zoomIn, Id::fit,   Id::actualSize, Id::copyCutout, Id::exportPicture};
    } else {
        ids += {Id::live, Id::hidePerson, Id::virtualCamera, Id::snapshot, Id::corner, Id::overlay};
    }
    return ids;
}

/// The tool bar's button for an action, if it is seen.
QToolButton* buttonFor(const MainWindow& window, const QAction* action) {
    for (QToolButton* button : window.findChild<QToolBar*>()->findChildren<QToolButton*>()) {
        const bool its = button->defaultAction() == action ||
                         (button->objectName() == "primary" && button->accessibleName() == action->whatsThis());
        if (its && button->isVisible()) return button;
    }
    return nullptr;
}

/// Each tool that is seen and does not look as its action is; empty when all do.
QStringList wrongTools(MainWindow& window) {
    QStringList wrong;
    for (const Id id : toolsOf(window.liveControl().mode())) {
        const QAction* action = window.actions()[id];
        const QToolButton* button = buttonFor(window, action);
        if (button && button->isEnabled() != action->isEnabled()) wrong.append(action->text());
    }
    return wrong;
}

QStringList enabledOf(MainWindow& window, std::initializer_list<Id> ids) {
    QStringList enabled;
    for (const Id id : ids) {
        if (window.actions()[id]->isEnabled()) enabled.append(window.actions()[id]->text());
    }
    return enabled;
}

QList<QMenu*> menusBelow(const QMenu& menu) {
    QList<QMenu*> menus;
    for (const QAction* action : menu.actions()) {
        if (action->menu()) menus += QList<QMenu*>{action->menu()} + menusBelow(*action->menu());
    }
    return menus;
}

/// How a menu draws the place left of an action's text.
QImage markOf(QMenu& menu, QAction* action) {
    menu.ensurePolished();
    menu.resize(menu.sizeHint());
    QRect place = menu.actionGeometry(action);
    place.setWidth(34);
    return menu.grab(place).toImage();
}

/// Or as narrow as it can be.
void makeAsWide(MainWindow& window, int width) {
    const auto isSo = [&] {
        window.resize(width, 600);  // again, until what was hidden takes no room any longer
        return window.width() == std::max(width, window.minimumSizeHint().width());
    };
    QTRY_VERIFY(isSo());
    QCoreApplication::processEvents();
}

/// For as long as it lives text is so many times as large.
class LargeText {
public:
    explicit LargeText(double factor) : before_(QApplication::font()) {
        QFont font = before_;
        font.setPointSizeF(before_.pointSizeF() * factor);
        QApplication::setFont(font);
    }
    ~LargeText() { QApplication::setFont(before_); }
    LargeText(const LargeText&) = delete;
    LargeText& operator=(const LargeText&) = delete;

private:
    QFont before_;
};

}  // namespace

class ToolsTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void toolsLookAsTheirActionsAreInEveryContext() {
        LiveFixture live;
        MainWindow& window = live.window();
        const auto ofPhoto = {Id::exportPicture, Id::copyCutout, Id::copyPicture, Id::view,
                              Id::zoom,          Id::nextView,   Id::split};
        const auto ofPicture = {Id::fit, Id::actualSize, Id::zoomIn, Id::zoomOut};
        QCOMPARE(wrongTools(window), QStringList());
        window.setMode(Mode::photo);  // there is none
        QCOMPARE(wrongTools(window), QStringList());
        QCOMPARE(enabledOf(window, ofPhoto), QStringList());
        QCOMPARE(enabledOf(window, ofPicture), QStringList());
        QVERIFY(!buttonFor(window, window.actions()[Id::exportPicture])->isEnabled());
        QVERIFY(!buttonFor(window, window.actions()[Id::copyCutout])->isEnabled());
        live.base.open();
        QCOMPARE(wrongTools(window), QStringList());
        QCOMPARE(enabledOf(window, ofPhoto).size(), qsizetype(ofPhoto.size()));
        QCOMPARE(enabledOf(window, ofPicture).size(), qsizetype(ofPicture.size()));
        window.setMode(Mode::live);
        QCOMPARE(wrongTools(window), QStringList());
        QCOMPARE(enabledOf(window, ofPhoto), QStringList());
        QCOMPARE(enabledOf(window, ofPicture), QStringList());  // nothing is live yet
        live.start();
        QCOMPARE(wrongTools(window), QStringList());
        QCOMPARE(enabledOf(window, ofPhoto), QStringList());
        QCOMPARE(enabledOf(window, ofPicture).size(), qsizetype(ofPicture.size()));
        window.setMode(Mode::photo);
        QCOMPARE(wrongTools(window), QStringList());
        QCOMPARE(enabledOf(window, ofPhoto).size(), qsizetype(ofPhoto.size()));
    }

    void whatThereIsNoneOfCantBeDeleted() {
        WindowFixture fixture;
        QAction* forget = fixture.window->actions()[Id::deleteProfile];
        QVERIFY(!forget->isEnabled());
        fixture.window->profiles().keep({"Desk", {}, {}});
        QVERIFY(forget->isEnabled());
        fixture.window->profiles().forget("Desk");
        QVERIFY(!forget->isEnabled());
    }

    void menusMarkWhatIsChosen_data() {
        QTest::addColumn<ThemeChoice>("theme");
        QTest::newRow("light") << ThemeChoice::light;
        QTest::newRow("dark") << ThemeChoice::dark;
    }
    void menusMarkWhatIsChosen() {
        QFETCH(ThemeChoice, theme);
        LiveFixture live;
        Q_EMIT live.window().bars().themes().chosen(int(theme));
        int marks = 0;
        for (const QAction* top : live.window().menuBar()->actions()) {
            for (QMenu* menu : QList<QMenu*>{top->menu()} + menusBelow(*top->menu())) {
                for (QAction* action : menu->actions()) {
                    if (!action->isCheckable()) continue;
                    const QSignalBlocker quiet(action);  // it is the mark that is looked at, not what it stands for
                    const bool chosen = action->isChecked();
                    action->setChecked(true);
                    const QImage marked = markOf(*menu, action);
                    if (auto* group = action->actionGroup()) group->setExclusive(false);
                    action->setChecked(false);
                    const QImage plain = markOf(*menu, action);
                    action->setChecked(chosen);
                    QVERIFY2(marked != plain, qPrintable(action->text()));
                    ++marks;
                }
            }
        }
        QVERIFY(marks >= 12);
    }

    void everyToolIsReachedInWindowsOfEveryWidth_data() {
        QTest::addColumn<double>("text");
        QTest::addColumn<int>("width");
        for (const double text : {1.0, 2.0}) {
            for (const int width : {1400, 1180, 900, 700, 620, 360}) {
                QTest::addRow("%d pixels, %g times the text", width, text) << text << width;
            }
        }
    }
    void everyToolIsReachedInWindowsOfEveryWidth() {
        QFETCH(double, text);
        QFETCH(int, width);
        const LargeText large(text);
        LiveFixture live;
        MainWindow& window = live.window();
        window.actions()[Id::panel]->setChecked(false);
        ToolRow& row = window.bars().tools();
        auto* more = row.findChild<QToolButton*>("more");
        for (const Mode mode : {Mode::photo, Mode::live}) {
            window.setMode(mode);
            makeAsWide(window, width);
            Q_EMIT row.overflow().aboutToShow();
            int out = 0;
            for (const Id id : toolsOf(mode)) {
                QAction* action = window.actions()[id];
                const QToolButton* button = buttonFor(window, action);
                QVERIFY2(bool(button) != row.overflow().actions().contains(action), qPrintable(action->text()));
                out += button ? 0 : 1;
                if (!button) continue;
                const QRect place(button->mapTo(&row, QPoint()), button->size());
                QVERIFY2(row.rect().contains(place), qPrintable(action->text()));
                QVERIFY2(button->width() >= button->sizeHint().width(), qPrintable(action->text()));
            }
            QCOMPARE(more->isVisible(), out > 0);
            QVERIFY(!more->isVisible() || row.rect().contains(more->geometry()));
            QVERIFY2(width < 1400 || text > 1 || out == 0, "there is room for all of them");
            QVERIFY2(width > 400 || out > 0, "there is no room for all of them");
        }
    }

    void everyControlOfThePanelIsReachedInLargeText() {
        const LargeText large(2);
        LiveFixture live;
        ParamsPanel& panel = live.window().panel();
        const int room = panel.viewport()->width();
        for (const int kind : {1, 2, 3, 4}) {
            panel.kinds().button(kind)->click();
            QCoreApplication::processEvents();
            int controls = 0;
            for (const QWidget* control : panel.widget()->findChildren<QWidget*>()) {
                const bool takesClicks = qobject_cast<const QAbstractButton*>(control) ||
                                         qobject_cast<const QAbstractSlider*>(control) ||
                                         qobject_cast<const QAbstractSpinBox*>(control);
                if (!takesClicks || !control->isVisible()) continue;
                const int left = control->mapTo(panel.widget(), QPoint()).x();
                QVERIFY2(left >= 0 && left + control->width() <= room, qPrintable(control->accessibleName()));
                ++controls;
            }
            QVERIFY(controls > 15);
        }
    }

    void theMenuOfToolsDoesWhatTheyDo() {
        LiveFixture live;
        MainWindow& window = live.window();
        window.setMode(Mode::photo);
        live.base.open();
        window.actions()[Id::panel]->setChecked(false);
        makeAsWide(window, 360);
        auto* more = window.bars().tools().findChild<QToolButton*>("more");
        QTRY_VERIFY(more->isVisible());
        QMenu& menu = window.bars().tools().overflow();
        QTimer::singleShot(0, &window, [&] {
            QTest::mouseClick(&menu, Qt::LeftButton, {}, menu.actionGeometry(window.actions()[Id::split]).center());
        });
        const bool before = window.actions()[Id::split]->isChecked();
        QTest::mouseClick(more, Qt::LeftButton);  // returns when its menu is closed
        QCOMPARE(window.actions()[Id::split]->isChecked(), !before);
    }
};

int runToolsTests(int argc, char** argv) {
    ToolsTest test;
    return QTest::qExec(&test, argc, argv);
}

}  // namespace matte::test

#include "tools_test.moc"
