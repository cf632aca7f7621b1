// SPDX-License-Identifier: Apache-2.0
// Each engine that needs no GPU keeps to inference/engine/engine.h: the product's, the baselines', and those that other
// tests put in their place. The GPU's: tests/gpu/contract_test.cpp.
#include <gtest/gtest.h>

#include "inference/baselines/baselines.h"
#include "inference/baselines/live/baseline_engine.h"
#include "inference/baselines/live/baseline_network.h"
#include "inference/engine/failover_photo_engine.h"
#include "tests/support/engines/cpu_engine.h"
#include "tests/support/engines/device_engine.h"
#include "tests/support/engines/fake_engine.h"
#include "tests/support/engines/live_contract.h"
#include "tests/support/engines/photo_contract.h"
#include "tests/support/engines/scripted_live.h"
#include "tests/support/files/model_file.h"
#include "tests/support/pictures/known_room.h"

namespace matte::test {
namespace {

/// With a first engine that is told to fail, or is not, in front of the CPU's.
std::unique_ptr<FailoverPhotoEngine> failover(bool failed) {
    static DeviceScript works, fails;
    fails.failure = DeviceFailure("The GPU fell off the bus.", true);
    return std::make_unique<FailoverPhotoEngine>(std::make_unique<DeviceEngine>(failed ? fails : works, "gpu"),
                                                 [](const std::string&) { return tinyEngine(); });
}

const baselines::Implementation& baseline() {
    return baselines::implementationNamed("cpu-sequential");
}

baselines::ModelPointer baselineModel() {
    return std::make_shared<const baselines::Model>(baselines::Model::random({4, 8, 16}, 1));
}

/// At the smallest input, which no frame makes larger or smaller.
const EngineOptions kSmallest{.kind = EngineKind::cpu, .networkLongestSide = 32, .precision = Precision::fp32};

std::unique_ptr<LiveEngine> baselineEngine() {
    return std::make_unique<baselines::BaselineEngine>(
        baseline(), baselines::Product{baselineModel, kSmallest}, EngineKind::cpu,
        std::make_shared<baselines::ImplementationSwitch>(), Size{}, std::stop_token{});
}

std::unique_ptr<Engine> fake() {
    static EngineLog log;
    return fakeEngine(log)();
}

std::unique_ptr<Engine> device() {
    static DeviceScript script;
    return std::make_unique<DeviceEngine>(script, "gpu");
}

std::unique_ptr<LiveEngine> scripted() {
    static LiveScript script;
    return scriptedEngine(script);
}

std::unique_ptr<LiveEngine> lapsing() {
    static const std::atomic<Lapse> none = Lapse::none;
    return lapsingEngine(tinyEngine(), none);
}

const std::vector<PixelFormat> kRgbaAlone{PixelFormat::rgba8};

INSTANTIATE_TEST_SUITE_P(
    Host,
    PhotoContract,
    testing::Values(PhotoSubject{"Cpu", [] { return tinyEngine(); }},
                    PhotoSubject{"CpuRecurrent", [] { return tinyRecurrentEngine(); }},
                    PhotoSubject{"Baseline",
                                 [] { return baselines::makeBaselineEngine(baseline(), baselineModel(), kSmallest); }},
                    PhotoSubject{"Failover", [] { return failover(false); }, false},
                    PhotoSubject{"FailoverThatLostItsFirst", [] { return failover(true); }},
                    PhotoSubject{"Fake", fake},
                    PhotoSubject{"Device", device, false}),
    nameOfSubject<PhotoSubject>);

INSTANTIATE_TEST_SUITE_P(Host,
                         LiveContract,
                         testing::Values(LiveSubject{"Cpu", [] { return tinyEngine(); }},
                                         LiveSubject{.name = "CpuRecurrent",
                                                     .make = [] { return tinyRecurrentEngine(); },
                                                     .recurrent = true},
                                         LiveSubject{"Baseline", baselineEngine},
                                         LiveSubject{"Lapsing", lapsing},
                                         LiveSubject{"Fake", fake, kRgbaAlone, false, false, false},
                                         LiveSubject{"Device", device, kRgbaAlone, false, false},
                                         LiveSubject{"Scripted", scripted, kRgbaAlone, true, false}),
                         nameOfSubject<LiveSubject>);

}  // namespace
}  // namespace matte::test
