// SPDX-License-Identifier: Apache-2.0
// Cameras that come and go on a system that tells nobody.
#include <atomic>
#include <chrono>

#include <gtest/gtest.h>

#include "inference/core/error.h"
#include "inference/media/capture/device_watch.h"
#include "tests/support/running/eventually.h"

namespace matte {
namespace {

using namespace std::chrono_literals;
using test::eventually;

/// A computer: what is plugged in, and how often its cameras were woken up.
struct Computer {
    std::mutex mutex;
    std::vector<CameraInfo> plugged;
    int looks = 0, wakes = 0;

    void plug(std::vector<CameraInfo> cameras) {
        const std::lock_guard lock(mutex);
        plugged = std::move(cameras);
    }
    int count(int Computer::*what) {
        const std::lock_guard lock(mutex);
        return this->*what;
    }
};

class ComputersDevices : public Devices {
public:
    explicit ComputersDevices(Computer& computer) : computer_(computer) {}
    std::vector<std::string> pluggedIn() override {
        const std::lock_guard lock(computer_.mutex);
        ++computer_.looks;
        std::vector<std::string> ids;
        for (const auto& camera : computer_.plugged) ids.push_back(camera.id);
        return ids;
    }
    std::vector<CameraInfo> describe() override {
        const std::lock_guard lock(computer_.mutex);
        ++computer_.wakes;
        return computer_.plugged;
    }

private:
    Computer& computer_;
};

struct WatchedComputer : Computer {
    std::atomic<int> changes{0};
    DeviceWatch watch{[this] { return std::make_unique<ComputersDevices>(*this); }, 1ms, [this] { ++changes; }};
};

CameraInfo brio() {
    return {"usb-1", "Brio", {{Encoding::mjpg, {1920, 1080}, {60}}}};
}
CameraInfo laptop() {
    return {"usb-2", "Integrated Camera", {{Encoding::yuyv, {640, 480}, {30}}}};
}

TEST(DeviceWatch, KnowsThatThereIsNone) {
    WatchedComputer computer;
    computer.watch.waitUntilKnown(20s);
    EXPECT_EQ(computer.count(&Computer::wakes), 1);
    EXPECT_TRUE(computer.watch.cameras().empty());
    EXPECT_EQ(computer.changes, 0) << "nothing has changed";
}

TEST(DeviceWatch, TellsOfWhatComesAndGoes) {
    WatchedComputer computer;
    computer.plug({brio()});
    ASSERT_TRUE(eventually([&] { return computer.changes == 1; }));
    EXPECT_EQ(computer.watch.cameras(), std::vector{brio()});
    computer.plug({brio(), laptop()});
    ASSERT_TRUE(eventually([&] { return computer.changes == 2; }));
    EXPECT_EQ(computer.watch.cameras(), (std::vector{brio(), laptop()}));
    computer.plug({});
    ASSERT_TRUE(eventually([&] { return computer.changes == 3; }));
    EXPECT_TRUE(computer.watch.cameras().empty());
}

TEST(DeviceWatch, LooksWithoutWakingCamerasUp) {
    WatchedComputer computer;
    computer.plug({brio()});
    ASSERT_TRUE(eventually([&] { return computer.changes == 1; }));
    const int looks = computer.count(&Computer::looks), wakes = computer.count(&Computer::wakes);
    ASSERT_TRUE(eventually([&] { return computer.count(&Computer::looks) > looks + 5; }));
    EXPECT_EQ(computer.count(&Computer::wakes), wakes);
}

TEST(DeviceWatch, AsksAgainWhatMayNotBeOpenedYet) {
    WatchedComputer computer;
    CameraInfo forbidden = brio();
    forbidden.modes.clear();
    computer.plug({forbidden});
    ASSERT_TRUE(eventually([&] { return computer.changes == 1; }));
    EXPECT_EQ(computer.watch.cameras(), std::vector{forbidden}) << "listed, so that it can be explained";
    computer.plug({brio()});  // the same, which may be opened now
    ASSERT_TRUE(eventually([&] { return computer.changes == 2; }));
    EXPECT_EQ(computer.watch.cameras(), std::vector{brio()});
}

TEST(DeviceWatch, IsEmptyWhereTheSystemHasNoCameras) {
    const DeviceWatch watch(
        []() -> std::unique_ptr<Devices> { throw Error(ErrorCategory::source, "There is no Media Foundation."); }, 1ms,
        {});
    watch.waitUntilKnown(20s);
    EXPECT_TRUE(watch.cameras().empty());
}

TEST(DeviceWatch, EndsInTheMidstOfAPause) {
    Computer computer;
    const DeviceWatch watch([&] { return std::make_unique<ComputersDevices>(computer); }, 1h, {});
    watch.waitUntilKnown(20s);  // its end would take the hour
}

}  // namespace
}  // namespace matte
