// SPDX-License-Identifier: Apache-2.0
// The implementation of the live network, chosen in the timing overlay while the test person runs, and by the command
// line.
#include <QAction>
#include <QElapsedTimer>
#include <QJsonDocument>
#include <QJsonObject>
#include <QMenu>
#include <QSignalSpy>
#include <QTest>

#include <algorithm>

#include "gui/app/command_line.h"
#include "gui/app/headless_run.h"
#include "gui/live/live_control.h"
#include "gui/panels/implementation_row.h"
#include "gui/timing/timing_overlay.h"
#include "gui/widgets/choice_menu.h"
#include "gui/window/canvas.h"
#include "inference/backends/create_engine.h"
#include "inference/baselines/live/baseline_selector.h"
#include "inference/core/error.h"
#include "tests/gui/groups.h"
#include "tests/gui/window_fixture.h"
#include "tests/support/files/model_file.h"

namespace matte::test {
namespace {

using baselines::Implementation;

constexpr int kPatience = 60000;  // milliseconds: a loaded machine, under a sanitizer

/// Is measured while it is built, gives frames, and then breaks.
class BrokenImplementation final : public baselines::NetworkImplementation {
public:
    void configure(Size) override {}
    baselines::RunReport run(std::span<const float>, std::span<float> alpha) override {
        if (++runs_ > 3) throw Error(ErrorCategory::engine, "The test's implementation broke: mend it.");
        std::ranges::fill(alpha, 0.F);
        baselines::RunReport report;
        report.ms = 1;  // fast: one measurement is enough
        return report;
    }
    [[nodiscard]] std::vector<float> activation(int) const override { return {}; }

private:
    int runs_ = 0;
};

const Implementation kBroken{"cpu-broken",
                             "CPU: broken",
                             baselines::Where::cpu,
                             1e-10,
                             false,
                             false,
                             nullptr,
                             [](const baselines::ModelPointer&) -> std::unique_ptr<baselines::NetworkImplementation> {
                                 return std::make_unique<BrokenImplementation>();
                             }};

/// im2col that says that it is slow.
class SlowImplementation final : public baselines::NetworkImplementation {
public:
    explicit SlowImplementation(const baselines::ModelPointer& model)
        : inner_(makeNetwork(baselines::implementationNamed("cpu-im2col"), model)) {}
    void configure(Size size) override { inner_->configure(size); }
    baselines::RunReport run(std::span<const float> input, std::span<float> alpha) override {
        baselines::RunReport report = inner_->run(input, alpha);
        report.ms = 0.3 * double(alpha.size());
        return report;
    }
    [[nodiscard]] std::vector<float> activation(int) const override { return {}; }

private:
    std::unique_ptr<baselines::NetworkImplementation> inner_;
};

const Implementation kSlow{
    "cpu-slow",
    "CPU: slow",
    baselines::Where::cpu,
    1e-10,
    false,
    false,
    nullptr,
    [](const baselines::ModelPointer& model) -> std::unique_ptr<baselines::NetworkImplementation> {
        return std::make_unique<SlowImplementation>(model);
    }};

/// A window whose live engine is a real one with a small network, and in front of it the synthetic person. With
/// MATTE_IMPLEMENTATION_MODEL=FILE it is this computer's best engine, that model and a person of 1080p instead: so that
/// `gui_tests Implementation everyImplementationThatRunsHereTakesEffect` prints what people would wait for, which must
/// be no more than a second.
struct ImplementationFixture {
    explicit ImplementationFixture(const Implementation* first = nullptr)
        : implementations(std::make_shared<baselines::ImplementationSwitch>(first)), base({}, startup()) {}

    Startup startup() {
        const QByteArray named = qgetenv("MATTE_IMPLEMENTATION_MODEL");
        EngineOptions options{.kind = EngineKind::cpu, .networkLongestSide = 64, .precision = Precision::fp32};
        if (!named.isEmpty()) options = {};
        const auto file = [named] {
            if (!named.isEmpty()) return Safetensors::read(named.toStdString());
            return Safetensors::parse(encodeSafetensors(randomUNet({4, 8, 16}, 1)), "tiny");
        };
        const auto makeEngines = [options, file, implementations = implementations]() -> LiveEngines {
            const auto loadModel = [file] {
                return std::make_shared<const baselines::Model>(baselines::Model::load(file()));
            };
            LiveEngines engines = createLiveEngines(UNet::load(file()), options);
            const baselines::Product product{loadModel, options};
            engines.selector = std::make_unique<baselines::BaselineSelector>(product, implementations);
            return engines;
        };
        return {.makeLiveEngines = makeEngines, .implementations = implementations, .watchCameras = false};
    }
    [[nodiscard]] MainWindow& window() const { return *base.window; }
    [[nodiscard]] ImplementationRow& row() const { return *window().findChild<ImplementationRow*>(); }
    /// The menu's line for that implementation, as a user sees it when the menu opens.
    [[nodiscard]] QAction* line(const QString& title) const {
        Q_EMIT row().menu().aboutToShow();
        for (QAction* action : row().menu().actions()) {
            if (action->text() == title) return action;
        }
        return nullptr;
    }
    void start() const {
        const bool isLarge = qEnvironmentVariableIsSet("MATTE_IMPLEMENTATION_MODEL");
        window().liveControl().play(isLarge ? "test:person:1920x1080@30" : "test:person:160x120@30");
        QTest::keyClick(&window(), Qt::Key_F3);
        showMore();
        QVERIFY(row().isVisible());
    }
    void showMore() const {
        const auto before = window().live().framesPresented();
        QTRY_VERIFY_WITH_TIMEOUT(window().live().framesPresented() > before + 1, kPatience);
    }
    [[nodiscard]] QJsonObject report() const {
        return QJsonDocument::fromJson(toJson(window().liveControl().report())).object()["method"].toObject();
    }

    std::shared_ptr<baselines::ImplementationSwitch> implementations;
    WindowFixture base;  ///< last: its window's threads end before what they use
};

}  // namespace

class ImplementationTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void theMenuChangesTheImplementationWhileTheVideoRuns() {
        const ImplementationFixture live;
        live.start();
        const QAction* product = live.line("Product (default)");
        QCOMPARE(live.row().menu().actions().first(), product);
        QVERIFY(product->isChecked());
        QCOMPARE(live.report()["name"].toString(), "product");

        QAction* im2col = live.line("CPU: im2col and a matrix product");
        im2col->trigger();
        QTRY_VERIFY_WITH_TIMEOUT(live.row().facts().contains("alpha differs by"), kPatience);
        QVERIFY2(live.row().facts().contains(" ms, default "), qPrintable(live.row().facts()));
        live.showMore();
        const QJsonObject report = live.report();
        QCOMPARE(report["name"].toString(), "cpu-im2col");
        QVERIFY(report["networkMs"].toDouble() > 0);
        const QJsonObject difference = report["alphaDifference"].toObject();
        QVERIFY(difference["maximum"].toDouble(1) < 1e-4);
        QVERIFY(difference["mean"].toDouble(1) <= difference["maximum"].toDouble());
        QTRY_VERIFY_WITH_TIMEOUT(live.window().live().status().engine.name.find("cpu-im2col") != std::string::npos,
                                 kPatience);
        QVERIFY(live.line("CPU: im2col and a matrix product")->isChecked());

        live.line("Product (default)")->trigger();
        QTRY_COMPARE_WITH_TIMEOUT(live.report()["name"].toString(), QString("product"), kPatience);
        live.showMore();
        QVERIFY(!live.base.hasError());
    }

    void everyImplementationThatRunsHereTakesEffect() {
        const ImplementationFixture live;
        live.start();
        qint64 longest = 0;
        QString slowest;
        for (const Implementation& implementation : baselines::implementations()) {
            if (!implementation.network || !whyUnavailable(implementation).empty()) continue;
            for (const Implementation* next : {&implementation, static_cast<const Implementation*>(nullptr)}) {
                const QString name =
                    next ? QString::fromUtf8(next->name.data(), qsizetype(next->name.size())) : "product";
                QElapsedTimer clock;
                clock.start();
                live.implementations->choose(next);
                const auto isComputed = [&] {  // once it is, the next picture is its own
                    const baselines::ImplementationStatus status = live.implementations->status();
                    return status.running == next && (!next || status.ms > 0);
                };
                (void)QTest::qWaitFor(isComputed, kPatience);
                const auto before = live.window().live().framesPresented();  // the default's are among them
                QCOMPARE(live.report()["name"].toString(), name);
                const QString input = live.report()["input"].toString("-");
                QVERIFY(QTest::qWaitFor([&] { return live.window().live().framesPresented() > before; }, kPatience));
                const qint64 waited = clock.elapsed();
                if (waited > longest) slowest = name;
                longest = std::max(longest, waited);
                QTRY_VERIFY_WITH_TIMEOUT(!next || live.report().contains("alphaDifference"), kPatience);
                qInfo("%-16s its first picture after %5lld ms, %s, alpha differs by at most %.1e", qPrintable(name),
                      static_cast<long long>(waited), qPrintable(input),
                      live.report()["alphaDifference"].toObject()["maximum"].toDouble());
            }
        }
        const bool isMeasured = qEnvironmentVariableIsSet("MATTE_IMPLEMENTATION_MODEL");
        if (isMeasured) {
            QVERIFY2(longest <= 1000, qPrintable(QString("%1 took %2 ms").arg(slowest).arg(longest)));
        }
        QVERIFY(!live.base.hasError());
    }

    void aSlowImplementationSaysThatItsInputIsSmaller() {
        const ImplementationFixture live;
        live.start();
        const int before = live.row().sizeHint().height();
        live.implementations->choose(&kSlow);
        QTRY_VERIFY_WITH_TIMEOUT(live.row().note().startsWith("Runs at 32x"), kPatience);
        QVERIFY2(live.row().note().contains(" At its own 64x"), qPrintable(live.row().note()));
        QTRY_VERIFY_WITH_TIMEOUT(live.row().facts().startsWith("at 32x"), kPatience);
        QTRY_VERIFY_WITH_TIMEOUT(live.row().height() > before, kPatience);
        QCOMPARE(live.report()["smallerBecause"].toString(), live.row().note());
        live.line("Product (default)")->trigger();
        QTRY_COMPARE_WITH_TIMEOUT(live.row().note(), QString(), kPatience);
        QTRY_COMPARE_WITH_TIMEOUT(live.row().height(), before, kPatience);
    }

    void whatCantRunHereIsGreyAndSaysWhy() {
        const ImplementationFixture live;
        live.start();
        int offered = 0;
        for (const Implementation& implementation : baselines::implementations()) {
            const QAction* line =
                live.line(QString::fromUtf8(implementation.title.data(), qsizetype(implementation.title.size())));
            QCOMPARE(line != nullptr, implementation.network != nullptr);
            if (!line) continue;
            const std::string why = whyUnavailable(implementation);
            QCOMPARE(line->isEnabled(), why.empty());
            if (!why.empty()) QCOMPARE(line->toolTip(), QString::fromStdString(why));
            offered += why.empty() ? 1 : 0;
        }
        QVERIFY(offered >= 4);
    }

    void anImplementationThatBreaksIsToldAndThePictureGoesOn() {
        const ImplementationFixture live;
        live.start();
        live.implementations->choose(&kBroken);
        QTRY_VERIFY_WITH_TIMEOUT(live.base.hasError(), kPatience);
        QVERIFY2(live.base.banner().contains("cpu-broken failed"), qPrintable(live.base.banner()));
        QVERIFY2(live.base.banner().contains("mend it"), qPrintable(live.base.banner()));
        live.showMore();
        QVERIFY(live.line("Product (default)")->isChecked());
        QCOMPARE(live.window().liveControl().report().statistics.engineFailures, std::uint64_t(0));
    }

    void aHeadlessRunWithABrokenImplementationEndsWithTheEnginesCode() {
        const ImplementationFixture live(&kBroken);
        LiveSource source;
        source.spec = parseSource("test:person:160x120@30");
        HeadlessRun run(live.window(), {.source = source, .frames = 100000});
        QSignalSpy ended(&run, &HeadlessRun::ended);
        run.begin();
        QTRY_COMPARE_WITH_TIMEOUT(ended.count(), 1, kPatience);
        QCOMPARE(ended[0][0].toInt(), int(kExitEngine));
    }

    void theCommandLineTakesItsName() {
        QCOMPARE(parseCommandLine({"matte", "--method", "cpu-parallel"}).implementation,
                 parseCommandLine({"matte", "--implementation", "cpu-parallel"}).implementation);
        const CommandLine line = parseCommandLine({"matte", "--implementation", "cpu-parallel"});
        QVERIFY(!line.exitCode);
        QVERIFY(line.implementation->name == "cpu-parallel");
        QCOMPARE(parseCommandLine({"matte", "--implementation", "cpu-magic"}).exitCode.value_or(0), int(kExitUsage));
        QCOMPARE(parseCommandLine({"matte", "--implementation", "gpu-cudnn"}).exitCode.value_or(0), int(kExitUsage));
    }
};

int runImplementationTests(int argc, char** argv) {
    ImplementationTest test;
    return QTest::qExec(&test, argc, argv);
}

}  // namespace matte::test

#include "implementation_test.moc"
