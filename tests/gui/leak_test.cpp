// SPDX-License-Identifier: Apache-2.0
// Nobody ever sees the room: a person in a known room is live in the window while engines, models,
// implementations, profiles, parameters, sources and sizes change at random and the program has 3 to 100 % of a
// processor; pictures of the screen are taken all the while (screen_watch.h), and the room may be in none of them.
//
// A few hundred pictures; leak.sh takes thousands. Also set by the environment: MATTE_LEAK_PICTURES, MATTE_LEAK_SEED,
// and MATTE_LEAK_FOLDER, where the worst picture is left.
#include <QAction>
#include <QCoreApplication>
#include <QElapsedTimer>
#include <QProcess>
#include <QScreen>
#include <QTest>
#include <QTimer>

#include <functional>
#include <random>

#include "gui/live/live_control.h"
#include "gui/live/profiles.h"
#include "gui/photo/background_chooser.h"
#include "gui/window/viewport.h"
#include "inference/backends/create_engine.h"
#include "inference/baselines/live/baseline_selector.h"
#include "inference/model/default_model.h"
#include "inference/model/safetensors.h"
#include "tests/gui/groups.h"
#include "tests/gui/window_fixture.h"
#include "tests/support/pictures/known_room.h"

namespace matte::test {
namespace {

using Id = ActionId;

/// Of the screen. What a matte leaves of the room, between an arm and a shoulder for instance, reached 0.2 %, and 0.5 %
/// where a slow implementation's network sees a small picture; a room that is shown in the smallest window takes 6 %.
constexpr double kMostOfScreen = 0.025;
constexpr int kPictures = 240, kPatience = 120'000;

int setting(const char* name, int otherwise) {
    return qEnvironmentVariableIsSet(name) ? qEnvironmentVariableIntValue(name) : otherwise;
}

const EngineChoice kNetworks[] = {
    {"portrait-lite", Precision::fast}, {"portrait", Precision::fast}, {"portrait-lite", Precision::fp32}};

Background plain(Rgb color) {
    Background background;
    background.kind = Background::Kind::color;
    background.color = color;
    return background;
}

QString picture(const char* name) {
    return QString::fromStdString(dataFile(std::string("backgrounds/") + name).string());
}

/// What the display showed.
struct Seen {
    int pictures = 0, withRoom = 0, withBackground = 0, most = 0;
};

/// The watch beside this program; wait() lets the window work on.
class Watch {
public:
    Watch(int pictures, unsigned seed, bool starve, const QString& worst) {
        process_.setProcessChannelMode(QProcess::ForwardedErrorChannel);
        process_.start(QCoreApplication::applicationFilePath(),
                       {"ScreenWatch", QString::number(pictures), QString::number(seed), starve ? "1" : "0", worst});
        const QSize screen = QGuiApplication::primaryScreen()->size();
        limit_ = int(kMostOfScreen * screen.width() * screen.height());
        QObject::connect(&process_, &QProcess::readyReadStandardOutput, [this] { read(); });
    }
    [[nodiscard]] const Seen& seen() const { return seen_; }
    [[nodiscard]] int limit() const { return limit_; }
    [[nodiscard]] bool isOver() const { return process_.state() == QProcess::NotRunning; }
    [[nodiscard]] bool ranToItsEnd() const {
        return isOver() && process_.exitStatus() == QProcess::NormalExit && process_.exitCode() == 0;
    }

private:
    void read() {
        while (process_.canReadLine()) {
            const QList<QByteArray> numbers = process_.readLine().trimmed().split(' ');
            const int room = numbers.value(0).toInt();
            ++seen_.pictures;
            seen_.withRoom += room > limit_ ? 1 : 0;
            seen_.withBackground += numbers.value(1).toInt() > limit_ ? 1 : 0;
            seen_.most = std::max(seen_.most, room);
        }
    }

    QProcess process_;
    Seen seen_;
    int limit_ = 0;
};

/// What it selects can lapse, too.
class LapsingSelector final : public EngineSelector {
public:
    LapsingSelector(std::unique_ptr<EngineSelector> selector, const std::atomic<Lapse>& lapse)
        : selector_(std::move(selector)), lapse_(lapse) {}
    std::optional<std::unique_ptr<LiveEngine>> next(Size picture, const LiveEngine& usual) override {
        auto selected = selector_->next(picture, usual);
        if (selected && *selected) selected = lapsingEngine(std::move(*selected), lapse_);
        return selected;
    }
    void failed(const std::string& sentence) override { selector_->failed(sentence); }
    [[nodiscard]] std::string problem() const override { return selector_->problem(); }

private:
    std::unique_ptr<EngineSelector> selector_;
    const std::atomic<Lapse>& lapse_;
};

/// A window whose only source is the known room and whose engine is a real one that can lapse.
struct RoomFixture {
    explicit RoomFixture(const EngineChoice& network)
        : base({},
               {.background = plain({0, 255, 0}),
                .makeLiveEngines = [this, network] { return makeEngines(network); },
                .engine = network,
                .enginesFor = [this](const EngineChoice& choice) -> MakeLiveEngines {
                    return [this, choice] { return makeEngines(choice); };
                },
                .open = [](const SourceSpec& spec,
                           const CaptureSettings&,
                           const std::stop_token&) { return openKnownRoom(spec.size, spec.rate); },
                .implementations = implementations,
                .watchCameras = false}) {
        window().profiles().keep({"Plain", paramsOf(plain({0, 220, 60})), sourceOf("test:person:640x480@30")});
        CompositeParams moved = paramsOf(plain({0, 255, 0}));
        moved.transform = {.mirrored = true, .scale = 0.6F, .x = 0.2F, .y = 0.1F};
        moved.fineDetail = true;
        window().profiles().keep({"Moved", moved, sourceOf("test:person:320x240@15")});
        CompositeParams cut = moved;
        cut.background.kind = Background::Kind::transparent;
        window().profiles().keep({"None", cut, sourceOf("test:person:1280x720@30")});
        window().setMode(Mode::live);
        window().liveControl().choose(sourceOf("test:person:640x480@30"));
        window().resize(900, 540);
        QObject::connect(&window().live(), &LiveSession::framePresented, [this] { ++frames; });
    }
    /// Until the person is there: what comes now is what happens to a running picture.
    void start() const {
        window().liveControl().start();
        QTRY_VERIFY_WITH_TIMEOUT(frames > 0, kPatience);
    }
    [[nodiscard]] MainWindow& window() const { return *base.window; }

    static CompositeParams paramsOf(const Background& background) {
        CompositeParams params;
        params.background = background;
        return params;
    }
    static LiveSource sourceOf(const char* text) {
        LiveSource source;
        source.spec = parseSource(text);
        return source;
    }
    /// As the program's own main() makes them, but for the lapses.
    LiveEngines makeEngines(const EngineChoice& network) {
        EngineOptions options;
        options.kind = EngineKind::cpu;
        options.precision = network.precision;
        const std::string model = network.model;
        const auto load = [model] {
            return std::make_shared<const baselines::Model>(
                baselines::Model::load(Safetensors::read(findModel(model))));
        };
        LiveEngines engines(lapsingEngine(makeLiveEngines(model, options).first, lapse));
        engines.selector = std::make_unique<LapsingSelector>(
            std::make_unique<baselines::BaselineSelector>(baselines::Product{load, options}, implementations), lapse);
        return engines;
    }

    int frames = 0;  ///< with the person, presented
    std::atomic<Lapse> lapse = Lapse::none;
    std::shared_ptr<baselines::ImplementationSwitch> implementations =
        std::make_shared<baselines::ImplementationSwitch>();
    WindowFixture base;  ///< last: its window's threads end before what they use
};

/// Does at random what a hasty user does, now and then, for as long as it lives.
class HastyUser {
public:
    HastyUser(RoomFixture& room, std::mt19937& random) : room_(room), random_(random) {
        next_.setSingleShot(true);
        QObject::connect(&next_, &QTimer::timeout, [this] { act(); });
        act();
    }
    [[nodiscard]] int acts() const { return acts_; }

private:
    int any(int most) { return std::uniform_int_distribution(0, most)(random_); }

    void act() {
        ++acts_;
        comeBack();
        const int kind = any(99);
        if (kind < 60) {
            trigger();
        } else if (kind < 70) {
            constexpr QSize kSizes[] = {{400, 300}, {640, 400}, {700, 560}, {920, 560}};
            room_.window().resize(kSizes[any(3)]);
        } else if (kind < 80) {
            change();
        } else if (kind < 84) {
            chooseImplementation();
        } else if (kind < 86) {
            room_.window().liveControl().engines().choose(kNetworks[any(int(std::size(kNetworks)) - 1)]);
        } else if (kind < 93) {
            room_.lapse = any(1) == 0 ? Lapse::broken : Lapse::unusable;
        } else {
            room_.window().liveControl().stop();
            room_.window().liveControl().start();
        }
        next_.start(20 + any(400));
    }

    /// Most of the time the person is to be seen: a picture without one can't show much of the room.
    void comeBack() {
        room_.lapse = Lapse::none;
        QAction* hide = room_.window().actions()[Id::hidePerson];
        if (hide->isChecked() && any(1) == 0) hide->trigger();
        if (!room_.window().live().isOn() && any(2) != 0) room_.window().liveControl().start();
    }

    /// Not what opens a dialog; not what sets the blur back, which shows a room as it is meant to; and nothing that
    /// magnifies what a right matte leaves.
    void trigger() {
        constexpr Id kIds[] = {
            Id::hidePerson, Id::overlay,    Id::live,      Id::mirror,     Id::temporalSmoothing, Id::smallRegions,
            Id::nearest,    Id::detail,     Id::wrap,      Id::cleanEdges, Id::resetTransform,    Id::panel,
            Id::corner,     Id::fullScreen, Id::photoMode, Id::fit,        Id::liveMode,          Id::zoomOut,
            Id::undo,       Id::redo,       Id::cancel};
        room_.window().actions()[kIds[any(int(std::size(kIds)) - 1)]]->trigger();
    }

    void change() {
        constexpr const char* kSources[] = {"test:person:640x480@30", "test:person:320x240@60",
                                            "test:person:1280x720@30", "test:person:480x640@15"};
        constexpr const char* kBackdrops[] = {"dusk.jpg", "loft.jpg", "river.webm"};
        switch (any(2)) {
            case 0: room_.window().liveControl().choose(RoomFixture::sourceOf(kSources[any(3)])); break;
            case 1: room_.window().applyProfile(any(2)); break;
            default: room_.window().backgrounds().choose(picture(kBackdrops[any(2)])); break;
        }
    }

    void chooseImplementation() {
        const auto all = baselines::implementations();
        const baselines::Implementation& implementation = all[std::size_t(any(int(all.size()) - 1))];
        const bool runs = implementation.network && implementation.where == baselines::Where::cpu;
        room_.implementations->choose(runs && any(2) == 0 ? &implementation : nullptr);
    }

    RoomFixture& room_;
    std::mt19937& random_;
    QTimer next_;
    int acts_ = 0;
};

}  // namespace

class LeakTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// Or the other test would show nothing.
    void aRoomThatIsShownIsSeen() {
        const ScratchFolder folder;
        RoomFixture room(kNetworks[0]);
        room.lapse = Lapse::betrayal;
        room.start();
        const Watch watch(5, 1, false, QString::fromStdString((folder / "worst.png").string()));
        QTRY_VERIFY_WITH_TIMEOUT(watch.isOver(), kPatience);
        QVERIFY(watch.ranToItsEnd());
        QCOMPARE(watch.seen().pictures, 5);
        QVERIFY2(watch.seen().withRoom == 5 && watch.seen().most > 3 * watch.limit(),
                 qPrintable(QString::number(watch.seen().most)));
    }

    void theRoomIsInNoPicture() {
        const ScratchFolder folder;
        const int pictures = setting("MATTE_LEAK_PICTURES", kPictures);
        const auto seed = unsigned(setting("MATTE_LEAK_SEED", 1));
        const QString kept = qEnvironmentVariable("MATTE_LEAK_FOLDER", QString::fromStdString(folder.path().string()));
        std::mt19937 random(seed);
        Seen all;
        int rounds = 0, acts = 0, frames = 0;
        while (all.pictures < pictures) {
            const int inRound = std::min(pictures - all.pictures, std::max(80, pictures / 12));
            RoomFixture room(kNetworks[std::size_t(rounds) % std::size(kNetworks)]);
            room.start();
            room.frames = 0;
            HastyUser user(room, random);
            const Watch watch(inRound, seed + unsigned(rounds), true, kept + QString("/worst-%1.png").arg(rounds));
            QElapsedTimer clock;
            clock.start();
            QTRY_VERIFY_WITH_TIMEOUT(watch.isOver(), kPatience + 1000 * inRound);
            QVERIFY(watch.ranToItsEnd());
            const Seen& seen = watch.seen();
            qInfo("seed %u round %d, %s: %d pictures in %lld s, %d acts, %d frames of the person;", seed, rounds,
                  kNetworks[std::size_t(rounds) % std::size(kNetworks)].model.c_str(), seen.pictures,
                  static_cast<long long>(clock.elapsed() / 1000), user.acts(), room.frames);
            qInfo("  %d with the plain background, of the room at most %d pixels, of %d that a matte may leave",
                  seen.withBackground, seen.most, watch.limit());
            QVERIFY2(seen.withRoom == 0, qPrintable(QString("%1 pictures with the room").arg(seen.withRoom)));
            all.pictures += seen.pictures;
            all.withBackground += seen.withBackground;
            acts += user.acts();
            frames += room.frames;
            ++rounds;
        }
        QVERIFY(acts > 0 && frames > 0 && all.withBackground > all.pictures / 20);
    }
};

int runLeakTests(int argc, char** argv) {
    // Qt's watchdog gives a function five minutes.
    const qlonglong longest = 300'000 + 2'000LL * setting("MATTE_LEAK_PICTURES", kPictures);
    qputenv("QTEST_FUNCTION_TIMEOUT", QByteArray::number(longest));
    LeakTest test;
    return QTest::qExec(&test, argc, argv);
}

}  // namespace matte::test

#include "leak_test.moc"
