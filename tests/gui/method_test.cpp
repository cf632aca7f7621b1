// SPDX-License-Identifier: Apache-2.0
// The method of the live network, chosen in the timing overlay while the test person runs, and by the command line.
#include <QAction>
#include <QElapsedTimer>
#include <QJsonDocument>
#include <QJsonObject>
#include <QMenu>
#include <QSignalSpy>
#include <QTest>

#include <algorithm>

#include "gui/app/command_line.h"
#include "gui/app/driven_run.h"
#include "gui/live/live_control.h"
#include "gui/panels/method_row.h"
#include "gui/timing/timing_overlay.h"
#include "gui/window/canvas.h"
#include "inference/baselines/live/switching_engine.h"
#include "inference/core/error.h"
#include "tests/gui/groups.h"
#include "tests/gui/window_fixture.h"
#include "tests/support/model_file.h"

namespace matte::test {
namespace {

using ladder::Method;

constexpr int kPatience = 60000;  // milliseconds: a loaded machine, under a sanitizer

/// Is measured while it is built, gives frames, and then breaks.
class BrokenMethod final : public ladder::NetworkMethod {
public:
    void configure(Size) override {}
    ladder::RunReport run(std::span<const float>, std::span<float> alpha) override {
        if (++runs_ > 3) throw Error(Area::engine, "The test's method broke: mend it.");
        std::ranges::fill(alpha, 0.F);
        ladder::RunReport report;
        report.ms = 1;  // fast: one measurement is enough
        return report;
    }
    [[nodiscard]] std::vector<float> activation(int) const override { return {}; }

private:
    int runs_ = 0;
};

const Method kBroken{"cpu-broken",
                     "CPU: broken",
                     ladder::Where::cpu,
                     1e-10,
                     false,
                     false,
                     nullptr,
                     [](const ladder::ModelPointer&) -> std::unique_ptr<ladder::NetworkMethod> {
                         return std::make_unique<BrokenMethod>();
                     }};

/// im2col that says that it is slow.
class SlowMethod final : public ladder::NetworkMethod {
public:
    explicit SlowMethod(const ladder::ModelPointer& model)
        : inner_(makeNetwork(ladder::methodNamed("cpu-im2col"), model)) {}
    void configure(Size size) override { inner_->configure(size); }
    ladder::RunReport run(std::span<const float> input, std::span<float> alpha) override {
        ladder::RunReport report = inner_->run(input, alpha);
        report.ms = 0.3 * double(alpha.size());
        return report;
    }
    [[nodiscard]] std::vector<float> activation(int) const override { return {}; }

private:
    std::unique_ptr<ladder::NetworkMethod> inner_;
};

const Method kSlow{"cpu-slow",
                   "CPU: slow",
                   ladder::Where::cpu,
                   1e-10,
                   false,
                   false,
                   nullptr,
                   [](const ladder::ModelPointer& model) -> std::unique_ptr<ladder::NetworkMethod> {
                       return std::make_unique<SlowMethod>(model);
                   }};

/// A window whose live engine is a real one with a small network, and in front of it the synthetic person. With
/// MATTE_METHOD_MODEL=FILE it is this computer's best engine, that model and a person of 1080p instead: so that
/// `gui_tests Method everyMethodThatRunsHereTakesEffect` prints what people would wait for, which must be no more than
/// a second.
struct MethodFixture {
    explicit MethodFixture(const Method* first = nullptr)
        : methods(std::make_shared<ladder::MethodSwitch>(first)), base({}, startup()) {}

    Startup startup() {
        const QByteArray named = qgetenv("MATTE_METHOD_MODEL");
        EngineOptions options{.kind = EngineKind::cpu, .networkLongestSide = 64, .precision = Precision::fp32};
        if (!named.isEmpty()) options = {};
        const auto file = [named] {
            if (!named.isEmpty()) return Safetensors::read(named.toStdString());
            return Safetensors::parse(encodeSafetensors(randomUNet({4, 8, 16}, 1)), "tiny");
        };
        const auto makeEngine = [options, file, methods = methods]() -> std::unique_ptr<Engine> {
            const auto loadModel = [file] {
                return std::make_shared<const ladder::Model>(ladder::Model::load(file()));
            };
            return std::make_unique<ladder::SwitchingEngine>(Engine::create(UNet::load(file()), options),
                                                             ladder::SwitchingEngine::Setup{loadModel, options},
                                                             methods);
        };
        return {.makeLiveEngine = makeEngine, .methods = methods, .watchCameras = false};
    }
    [[nodiscard]] MainWindow& window() const { return *base.window; }
    [[nodiscard]] MethodRow& row() const { return *window().findChild<MethodRow*>(); }
    /// The menu's line for that method, as a user sees it when the menu opens.
    [[nodiscard]] QAction* line(const QString& title) const {
        Q_EMIT row().menu().aboutToShow();
        for (QAction* action : row().menu().actions()) {
            if (action->text() == title) return action;
        }
        return nullptr;
    }
    void start() const {
        const bool isLarge = qEnvironmentVariableIsSet("MATTE_METHOD_MODEL");
        window().goLive(isLarge ? "test:person:1920x1080@30" : "test:person:160x120@30");
        QTest::keyClick(&window(), Qt::Key_F3);
        showMore();
        QVERIFY(row().isVisible());
    }
    void showMore() const {
        const auto before = window().live().framesPresented();
        QTRY_VERIFY_WITH_TIMEOUT(window().live().framesPresented() > before + 1, kPatience);
    }
    [[nodiscard]] QJsonObject report() const {
        return QJsonDocument::fromJson(toJson(window().report())).object()["method"].toObject();
    }

    std::shared_ptr<ladder::MethodSwitch> methods;
    WindowFixture base;  ///< last: its window's threads end before what they use
};

}  // namespace

class MethodTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void theMenuChangesTheMethodWhileTheVideoRuns() {
        const MethodFixture live;
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

    void everyMethodThatRunsHereTakesEffect() {
        const MethodFixture live;
        live.start();
        qint64 longest = 0;
        QString slowest;
        for (const Method& method : ladder::methods()) {
            if (!method.network || !whyUnavailable(method).empty()) continue;
            for (const Method* next : {&method, static_cast<const Method*>(nullptr)}) {
                const QString name =
                    next ? QString::fromUtf8(next->name.data(), qsizetype(next->name.size())) : "product";
                QElapsedTimer clock;
                clock.start();
                live.methods->choose(next);
                const auto isComputed = [&] {  // once it is, the next picture is its own
                    const ladder::MethodStatus status = live.methods->status();
                    return status.running == next && (!next || status.ms > 0);
                };
                while (!isComputed() && clock.elapsed() < kPatience) QTest::qWait(5);
                const auto before = live.window().live().framesPresented();  // the default's are among them
                QCOMPARE(live.report()["name"].toString(), name);
                const QString input = live.report()["input"].toString("-");
                while (live.window().live().framesPresented() == before && clock.elapsed() < kPatience) QTest::qWait(5);
                QVERIFY(live.window().live().framesPresented() > before);
                const qint64 waited = clock.elapsed();
                if (waited > longest) slowest = name;
                longest = std::max(longest, waited);
                QTRY_VERIFY_WITH_TIMEOUT(!next || live.report().contains("alphaDifference"), kPatience);
                qInfo("%-16s its first picture after %5lld ms, %s, alpha differs by at most %.1e", qPrintable(name),
                      static_cast<long long>(waited), qPrintable(input),
                      live.report()["alphaDifference"].toObject()["maximum"].toDouble());
            }
        }
        const bool isMeasured = qEnvironmentVariableIsSet("MATTE_METHOD_MODEL");
        if (isMeasured) {
            QVERIFY2(longest <= 1000, qPrintable(QString("%1 took %2 ms").arg(slowest).arg(longest)));
        }
        QVERIFY(!live.base.hasError());
    }

    void aSlowMethodSaysThatItsInputIsSmaller() {
        const MethodFixture live;
        live.start();
        const int before = live.row().sizeHint().height();
        live.methods->choose(&kSlow);
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
        const MethodFixture live;
        live.start();
        int offered = 0;
        for (const Method& method : ladder::methods()) {
            const QAction* line = live.line(QString::fromUtf8(method.title.data(), qsizetype(method.title.size())));
            QCOMPARE(line != nullptr, method.network != nullptr);
            if (!line) continue;
            const std::string why = whyUnavailable(method);
            QCOMPARE(line->isEnabled(), why.empty());
            if (!why.empty()) QCOMPARE(line->toolTip(), QString::fromStdString(why));
            offered += why.empty() ? 1 : 0;
        }
        QVERIFY(offered >= 4);
    }

    void aMethodThatBreaksIsToldAndThePictureGoesOn() {
        const MethodFixture live;
        live.start();
        live.methods->choose(&kBroken);
        QTRY_VERIFY_WITH_TIMEOUT(live.base.hasError(), kPatience);
        QVERIFY2(live.base.banner().contains("cpu-broken failed"), qPrintable(live.base.banner()));
        QVERIFY2(live.base.banner().contains("mend it"), qPrintable(live.base.banner()));
        live.showMore();
        QVERIFY(live.line("Product (default)")->isChecked());
        QCOMPARE(live.window().report().statistics.engineFailures, std::uint64_t(0));
    }

    void aDrivenRunWithABrokenMethodEndsWithTheEnginesCode() {
        const MethodFixture live(&kBroken);
        LiveSource source;
        source.spec = parseSource("test:person:160x120@30");
        DrivenRun run(live.window(), {.source = source, .frames = 100000});
        QSignalSpy ended(&run, &DrivenRun::ended);
        run.begin();
        QTRY_COMPARE_WITH_TIMEOUT(ended.count(), 1, kPatience);
        QCOMPARE(ended[0][0].toInt(), int(kExitEngine));
    }

    void theCommandLineTakesItsName() {
        const CommandLine line = parseCommandLine({"matte", "--method", "cpu-parallel"});
        QVERIFY(!line.exitCode);
        QVERIFY(line.method->name == "cpu-parallel");
        QCOMPARE(parseCommandLine({"matte", "--method", "cpu-magic"}).exitCode.value_or(0), int(kExitUsage));
        QCOMPARE(parseCommandLine({"matte", "--method", "gpu-cudnn"}).exitCode.value_or(0), int(kExitUsage));
    }
};

int runMethodTests(int argc, char** argv) {
    MethodTest test;
    return QTest::qExec(&test, argc, argv);
}

}  // namespace matte::test

#include "method_test.moc"
