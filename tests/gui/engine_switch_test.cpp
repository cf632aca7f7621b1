// SPDX-License-Identifier: Apache-2.0
// Another model, precision or implementation is chosen in the window while live pictures run: the picture goes on until
// the new engine is ready, no frame is lost, and nothing but composites is shown.
#include <QAction>
#include <QScopeGuard>
#include <QTest>

#include <algorithm>
#include <mutex>
#include <vector>

#include "gui/live/live_control.h"
#include "gui/widgets/choice_menu.h"
#include "gui/window/window_bars.h"
#include "inference/backends/create_engine.h"
#include "inference/baselines/live/baseline_selector.h"
#include "inference/core/error.h"
#include "inference/model/default_model.h"
#include "tests/gui/groups.h"
#include "tests/gui/live_fixture.h"
#include "tests/support/pictures/known_room.h"

namespace matte::test {
namespace {

constexpr int kPatience = 120'000;  // milliseconds: a loaded machine, under a sanitizer

/// The frames of a run, by their numbers. Any thread.
class FrameLog {
public:
    /// A frame that begins again in another engine is no other frame.
    void begin(std::uint64_t frame) {
        const std::scoped_lock lock(mutex_);
        if (std::ranges::find(begun_, frame) == begun_.end()) begun_.push_back(frame);
    }
    void end(std::uint64_t frame) {
        const std::scoped_lock lock(mutex_);
        ended_.push_back(frame);
    }
    [[nodiscard]] std::size_t count() const {
        const std::scoped_lock lock(mutex_);
        return ended_.size();
    }
    /// Whether each frame that began has ended once, and in their order; but for the last ones, which are under way.
    [[nodiscard]] bool isWhole() const {
        const std::scoped_lock lock(mutex_);
        return std::ranges::is_sorted(begun_) && ended_.size() <= begun_.size() &&
               std::equal(ended_.begin(), ended_.end(), begun_.begin());
    }

private:
    mutable std::mutex mutex_;
    std::vector<std::uint64_t> begun_, ended_;
};

/// Notes the frames of another engine. What it computes before its first reset() is a preparation.
class LoggedEngine final : public LiveEngine {
public:
    LoggedEngine(std::unique_ptr<LiveEngine> engine, FrameLog& log, bool isPreparing)
        : engine_(std::move(engine)), log_(log), isPreparing_(isPreparing) {}
    [[nodiscard]] EngineInfo info() const override { return engine_->info(); }
    [[nodiscard]] PixelMemory frameMemory() const override { return engine_->frameMemory(); }
    [[nodiscard]] int slots() const override { return engine_->slots(); }
    bool submit(const Frame& frame, const CompositeParams& params) override {
        const bool begins = engine_->submit(frame, params);
        if (begins && !isPreparing_) log_.begin(frame.number);
        return begins;
    }
    Output take() override {
        Output output = engine_->take();
        if (!isPreparing_) log_.end(output.frame);
        return output;
    }
    void drop() override { engine_->drop(); }
    void reset() override {
        isPreparing_ = false;
        engine_->reset();
    }
    [[nodiscard]] std::vector<LayerInfo> layers() const override { return engine_->layers(); }
    void timeLayers(bool on) override { engine_->timeLayers(on); }

private:
    std::unique_ptr<LiveEngine> engine_;
    FrameLog& log_;
    bool isPreparing_;
};

/// Notes the frames of the engines that another selector chooses.
class LoggedSelector final : public EngineSelector {
public:
    LoggedSelector(std::unique_ptr<EngineSelector> selector, FrameLog& log)
        : selector_(std::move(selector)), log_(log) {}
    std::optional<std::unique_ptr<LiveEngine>> next(Size picture, const LiveEngine& usual) override {
        auto selected = selector_->next(picture, usual);
        const bool isPreparing = picture == Size{};
        if (selected && *selected) selected = std::make_unique<LoggedEngine>(std::move(*selected), log_, isPreparing);
        return selected;
    }
    void failed(const std::string& sentence) override { selector_->failed(sentence); }
    [[nodiscard]] std::string problem() const override { return selector_->problem(); }

private:
    std::unique_ptr<EngineSelector> selector_;
    FrameLog& log_;
};

QAction* entry(const QMenu& menu, const QVariant& value) {
    for (QAction* action : menu.actions()) {
        if (action->data() == value) return action;
    }
    return nullptr;
}

/// The known room at 60 frames a second before a green background, and the engines of the program.
struct RealFixture {
    RealFixture() : base({}, startup()) {
        window().setMode(Mode::live);
        QObject::connect(&window().live(), &LiveSession::pictureChanged,
                         [this](const LiveSession::Live& live) { look(*live); });
    }
    Startup startup() {
        Background green;
        green.kind = Background::Kind::color;
        green.color = {0, 255, 0};
        const EngineChoice first{kLiteModel, Precision::fast};
        return {.background = green,
                .makeLiveEngines = enginesFor(first),
                .engine = first,
                .enginesFor = [this](const EngineChoice& choice) { return enginesFor(choice); },
                .open = [](const SourceSpec& spec, const CaptureSettings&,
                           const std::stop_token&) { return openKnownRoom(spec.size, spec.rate); },
                .implementations = implementations,
                .watchCameras = false};
    }
    MakeLiveEngines enginesFor(const EngineChoice& choice) {
        return [this, choice]() -> LiveEngines {
            const EngineOptions options{.kind = EngineKind::cpu, .precision = choice.precision};
            const baselines::Product product{[choice] {
                                                 return std::make_shared<const baselines::Model>(baselines::Model::load(
                                                     Safetensors::read(findModel(choice.model))));
                                             },
                                             options};
            LiveEngines engines(
                std::make_unique<LoggedEngine>(makeLiveEngines(choice.model, options).first, frames, true));
            engines.selector = std::make_unique<LoggedSelector>(
                std::make_unique<baselines::BaselineSelector>(product, implementations), frames);
            ++made;
            return engines;
        };
    }
    /// The corner is never the person's.
    void look(const LivePicture& live) {
        const auto image = live.picture->image();
        const std::uint8_t* corner = image->row(0);
        std::size_t room = 0;
        for (std::size_t i = 0; i < image->size().pixels(); ++i) {
            const std::uint8_t* pixel = corner + 4 * i;
            room += isOfKnownRoom(pixel[0], pixel[1], pixel[2]) ? 1 : 0;
        }
        const bool isGreen = corner[0] < 40 && corner[1] > 215 && corner[2] < 40;
        placeholders += live.placeholder && shown > 0 ? 1 : 0;
        withoutBackground += isGreen ? 0 : 1;
        withRoom += 10 * room > image->size().pixels() ? 1 : 0;
        shown += live.placeholder ? 0 : 1;
        ordered = ordered && (live.placeholder || live.frame >= newest);
        if (!live.placeholder) newest = live.frame;
    }
    /// The engines of now have given some frames.
    void showMore() const {
        const std::size_t before = frames.count();
        const int pictures = shown;
        QTRY_VERIFY_WITH_TIMEOUT(frames.count() > before + 4 && shown > pictures, kPatience);
    }
    void choose(const QMenu& menu, const QVariant& value) const {
        const int before = made;
        entry(menu, value)->trigger();
        WindowFixture::flushEvents();  // the window knows that others are wanted
        QTRY_VERIFY_WITH_TIMEOUT(made > before && !window().live().status().switching, kPatience);
        showMore();
    }
    void choose(const baselines::Implementation* implementation) const {
        implementations->choose(implementation);
        QTRY_VERIFY_WITH_TIMEOUT(implementations->status().running == implementation, kPatience);
        showMore();
    }
    [[nodiscard]] MainWindow& window() const { return *base.window; }

    FrameLog frames;
    std::atomic<int> made = 0;
    int shown = 0, placeholders = 0, withoutBackground = 0, withRoom = 0;
    bool ordered = true;
    std::uint64_t newest = 0;
    std::shared_ptr<baselines::ImplementationSwitch> implementations =
        std::make_shared<baselines::ImplementationSwitch>();
    WindowFixture base;  ///< last: its window's threads end before what they use
};

}  // namespace

class EngineSwitchTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void noFrameIsLostAndNothingButCompositesIsShown() {
        const RealFixture live;
        WindowBars& bars = live.window().bars();
        live.window().liveControl().play("test:person:320x240@60");
        QTRY_VERIFY_WITH_TIMEOUT(live.shown > 0, kPatience);
        live.choose(bars.models(), "portrait");
        live.choose(bars.precisions(), int(Precision::fp32));
        live.choose(&baselines::networkImplementationNamed("cpu-onednn"));
        live.choose(bars.models(), kLiteModel);
        QVERIFY(live.implementations->status().running == &baselines::networkImplementationNamed("cpu-onednn"));
        live.choose(static_cast<const baselines::Implementation*>(nullptr));
        live.choose(bars.precisions(), int(Precision::fast));
        live.window().liveControl().stop();
        QVERIFY(live.frames.isWhole());
        QVERIFY(live.ordered);
        QCOMPARE(live.placeholders, 0);
        QCOMPARE(live.withoutBackground, 0);
        QCOMPARE(live.withRoom, 0);
        QVERIFY(!live.base.hasError());
    }

    void thePictureGoesOnUntilTheNewEngineIsReady() {
        LiveScript next;
        LiveFixture live({},
                         [&](const EngineChoice&) -> MakeLiveEngines { return [&] { return scriptedEngine(next); }; });
        const auto end = qScopeGuard([&] { next.take.open(); });
        live.start();
        next.take.close();
        QAction* lite = entry(live.window().bars().models(), kLiteModel);
        lite->trigger();
        QTRY_COMPARE(next.submitted.load(), 1);  // it prepares
        QTRY_VERIFY(live.window().live().status().switching && lite->isChecked());
        for (int i = 0; i < 5; ++i) live.showNext();
        QVERIFY(live.personShown());
        live.script.submit.close();
        live.feed.push();
        QTRY_COMPARE(live.script.submitting.load(), 7);
        live.feed.push();  // goes to the other slot
        QTRY_COMPARE(live.window().live().statistics().framesIn, std::uint64_t(8));
        next.take.open();
        QTRY_COMPARE(next.resets.load(), 1);
        live.script.submit.open();
        QTRY_VERIFY(!live.window().live().status().switching);
        live.showNext();
        QVERIFY(live.personShown() && next.submitted >= 2);
        QCOMPARE(live.window().live().newest()->frame, std::uint64_t(8));
        QCOMPARE(live.window().live().statistics().framesOut, std::uint64_t(9));
        QCOMPARE(live.window().live().statistics().framesDropped, std::uint64_t(0));
        QCOMPARE(live.script.made.load(), 1);
        QVERIFY(!live.base.hasError());
    }

    void anEngineThatCantBeMadeIsToldAndTheOneBeforeGoesOn() {
        LiveScript next;
        LiveFixture live({},
                         [&](const EngineChoice&) -> MakeLiveEngines { return [&] { return scriptedEngine(next); }; });
        live.start();
        next.failMaking = true;
        QMenu& precisions = live.window().bars().precisions();
        entry(precisions, int(Precision::fp32))->trigger();
        QTRY_VERIFY(live.base.banner().contains("The scripted model is damaged"));
        QVERIFY(entry(precisions, int(Precision::fast))->isChecked());
        live.showNext();
        QVERIFY(live.personShown());
        next.failMaking = false;
        entry(precisions, int(Precision::fp32))->trigger();
        QTRY_COMPARE(next.resets.load(), 1);
        live.showNext();
        QVERIFY(entry(precisions, int(Precision::fp32))->isChecked());
    }

    void theNewestOfTwoChoicesRuns() {
        LiveScript one, other;
        LiveFixture live({}, [&](const EngineChoice& choice) -> MakeLiveEngines {
            return [&script = choice.model == "portrait" ? one : other] { return scriptedEngine(script); };
        });
        const auto end = qScopeGuard([&] { one.take.open(); });
        live.start();
        one.take.close();
        const QMenu& models = live.window().bars().models();
        entry(models, "portrait")->trigger();
        QTRY_VERIFY(one.submitted == 1 && live.window().live().status().switching);
        entry(models, kLiteModel)->trigger();
        one.take.open();
        QTRY_VERIFY(other.resets == 1 && !live.window().live().status().switching);
        live.showNext();
        QCOMPARE(one.submitted.load(), 1);
        QVERIFY(other.submitted >= 2);
    }
};

int runEngineSwitchTests(int argc, char** argv) {
    EngineSwitchTest test;
    return QTest::qExec(&test, argc, argv);
}

}  // namespace matte::test

#include "engine_switch_test.moc"
