// SPDX-License-Identifier: Apache-2.0
// Looking for NVIDIA devices works on a machine that has none, and says in one sentence why there is none.
#include <thread>

#include <gtest/gtest.h>

#include "inference/cuda/device/devices.h"
#include "inference/engine/engine.h"

namespace matte {
namespace {

TEST(Cuda, EitherHasDevicesOrSaysWhyNot) {
    const CudaStatus status = queryCuda();
    EXPECT_EQ(status.devices.empty(), !status.unavailable.empty());
    EXPECT_TRUE(status.unavailable.empty() || status.unavailable.back() == '.') << status.unavailable;
    for (const auto& device : status.devices) {
        EXPECT_FALSE(device.name.empty());
        EXPECT_GE(device.computeMajor, 3);
        EXPECT_GT(device.multiprocessors, 0);
        EXPECT_GT(device.memoryBytes, std::size_t(1) << 28);
    }
}

TEST(Cuda, AnswersTheSameOnEveryThread) {
    const CudaStatus first = queryCuda();
    CudaStatus second;
    std::jthread([&] { second = queryCuda(); }).join();
    EXPECT_EQ(first.unavailable, second.unavailable);
    EXPECT_EQ(first.devices.size(), second.devices.size());
}

struct ChooseDevice : testing::Test {
    CudaStatus status;
    ChooseDevice() {
        status.devices = {{"Small", 8, 6, 20, 0, "uuid of the small"},
                          {"Old", 7, 5, 200, 0, "uuid of the old"},
                          {"Large", 9, 0, 132, 0, "uuid of the large"}};
    }
};

TEST_F(ChooseDevice, TakesTheFastestWhenNothingElseIsKnown) {
    EXPECT_EQ(chooseDevice(status, kAnyDevice, ""), 2);
}

TEST_F(ChooseDevice, TakesTheOneThatDrawsTheWindowThoughItIsSlower) {
    EXPECT_EQ(chooseDevice(status, kAnyDevice, "uuid of the small"), 0);
}

TEST_F(ChooseDevice, TakesTheFastestWhereTheWindowIsDrawnByNoGpuOrOneTooOld) {
    EXPECT_EQ(chooseDevice(status, kAnyDevice, "uuid of another maker's"), 2);
    EXPECT_EQ(chooseDevice(status, kAnyDevice, "uuid of the old"), 2);
}

TEST_F(ChooseDevice, TakesTheOneWhoseNumberIsGivenWhateverDrawsTheWindow) {
    EXPECT_EQ(chooseDevice(status, 0, "uuid of the large"), 0);
    EXPECT_THROW(chooseDevice(status, 1, ""), DeviceFailure) << "it is too old";
    EXPECT_THROW(chooseDevice(status, 3, ""), Error);
    EXPECT_THROW(chooseDevice(status, -2, ""), Error);
}

TEST_F(ChooseDevice, HasNoChoiceWithOneGpuOrNone) {
    status.devices.resize(1);
    EXPECT_EQ(chooseDevice(status, kAnyDevice, ""), 0);
    EXPECT_EQ(chooseDevice(status, kAnyDevice, "uuid of the large"), 0);
    status = {};
    status.unavailable = "There is no NVIDIA GPU.";
    EXPECT_THROW(chooseDevice(status, kAnyDevice, ""), DeviceFailure);
}

// The numbers are CUDA's own: cudaErrorInsufficientDriver, -DevicesUnavailable, -NoDevice, -SystemNotReady.
TEST(Cuda, ExplainsEachErrorInOneSentence) {
    EXPECT_EQ(cudaUnavailable(35, "", "13.0", ""),
              "There is no NVIDIA driver: install one for CUDA 13.0 or newer to use a GPU.");
    EXPECT_EQ(cudaUnavailable(35, "", "13.0", "12.4"),
              "The NVIDIA driver is for CUDA 12.4 and the program needs 13.0: update the driver.");
    EXPECT_NE(cudaUnavailable(46, "", "13.0", "13.0").find("busy"), std::string::npos);
    EXPECT_NE(cudaUnavailable(100, "", "13.0", "13.0").find("no NVIDIA GPU"), std::string::npos);
    EXPECT_NE(cudaUnavailable(802, "system not yet initialized", "13.0", "13.0").find("802, system not yet"),
              std::string::npos);
}

}  // namespace
}  // namespace matte
