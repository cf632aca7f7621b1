// SPDX-License-Identifier: Apache-2.0
// The GPU's engines keep to inference/engine/engine.h, and so does the one that stands in for them in these tests.
// Where there is no GPU: tests/unit/engine/contract_test.cpp.
#include "inference/cuda/cuda_engine.h"
#include "inference/engine/failover_photo_engine.h"
#include "tests/gpu/engine_case.h"
#include "tests/gpu/live_case.h"
#include "tests/gpu/network_case.h"
#include "tests/support/engines/live_contract.h"
#include "tests/support/engines/photo_contract.h"

namespace matte::test {
namespace {

/// Its matte of the contract's photo is between 0.3 and 0.6 everywhere: every background shows through.
std::unique_ptr<Engine> cuda() {
    return std::make_unique<CudaEngine>(std::make_shared<const UNet>(randomNetwork(8, 1)), kRepeatable);
}

std::unique_ptr<Engine> recurrent() {
    return std::make_unique<CudaEngine>(
        std::make_shared<const UNet>(randomRecurrentNetwork({8, 16, 32, 64, 128}, {"up2", "up3", "up4"}, 1)),
        kRepeatable);
}

std::unique_ptr<Engine> standIn() {
    return std::make_unique<RoundEngine>("");
}

std::unique_ptr<FailoverPhotoEngine> failover() {
    return std::make_unique<FailoverPhotoEngine>(cuda(), [](const std::string&) { return standIn(); });
}

INSTANTIATE_TEST_SUITE_P(Gpu,
                         PhotoContract,
                         testing::Values(PhotoSubject{"Cuda", cuda},
                                         PhotoSubject{"Recurrent", recurrent},
                                         PhotoSubject{"Failover", failover},
                                         PhotoSubject{"StandIn", standIn}),
                         nameOfSubject<PhotoSubject>);

INSTANTIATE_TEST_SUITE_P(
    Gpu,
    LiveContract,
    testing::Values(LiveSubject{"Cuda", cuda},
                    LiveSubject{.name = "Recurrent", .make = recurrent, .recurrent = true},
                    LiveSubject{"StandIn", standIn, {PixelFormat::rgba8, PixelFormat::bgr8}, false, false}),
    nameOfSubject<LiveSubject>);

}  // namespace
}  // namespace matte::test
