// SPDX-License-Identifier: Apache-2.0
// The limit that a machine sets to a layer, and how it is measured on the processor.
#include <gtest/gtest.h>

#include "inference/core/machine_rates.h"
#include "inference/cpu/processor_rates.h"

namespace matte {
namespace {

const MachineRates kRates{.flopsPerSecond = 1e12, .bytesPerSecond = 1e11, .text = ""};

TEST(MachineRates, TheLeastTimeIsTheLongerOfCalculatingAndMoving) {
    EXPECT_DOUBLE_EQ(leastMs(2e9, 1e7, kRates), 2);
    EXPECT_DOUBLE_EQ(leastMs(2e9, 5e8, kRates), 5);
    EXPECT_EQ(leastMs(2e9, 5e8, {}), 0) << "without rates there is no limit";
}

TEST(MachineRates, AShareIsToldWhereItMeansSomething) {
    EXPECT_DOUBLE_EQ(shareOfLimit(2e9, 1e7, 8, kRates).value(), 0.25);
    EXPECT_DOUBLE_EQ(shareOfLimit(2e9, 1e7, 2, kRates).value(), 1);
    EXPECT_FALSE(shareOfLimit(2e9, 1e7, 1.9, kRates)) << "faster than the limit: done elsewhere";
    EXPECT_FALSE(shareOfLimit(2e9, 1e7, 8, {})) << "rates that are not known";
    EXPECT_FALSE(shareOfLimit(0, 0, 8, kRates)) << "no work";
}

TEST(ProcessorRates, AreMeasuredInStepsThatEnd) {
    ProcessorRates rates;
    int steps = 0;
    while (rates.measure()) ASSERT_LT(++steps, 100);
    EXPECT_TRUE(rates.done());
    EXPECT_GT(steps, 4) << "each is to fit between two frames";
    EXPECT_GT(rates.flopsPerSecond(), 1e8);
    EXPECT_GT(rates.bytesPerSecond(), 1e7);
    EXPECT_FALSE(rates.measure()) << "nothing is left to do";
}

}  // namespace
}  // namespace matte
