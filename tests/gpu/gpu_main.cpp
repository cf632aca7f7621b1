// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>

#include "inference/cuda/device/devices.h"

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    const std::string unavailable = matte::queryCuda().unavailable;
    if (unavailable.empty() || GTEST_FLAG_GET(list_tests)) return RUN_ALL_TESTS();
    const testing::UnitTest& all = *testing::UnitTest::GetInstance();
    for (int i = 0; i < all.total_test_suite_count(); ++i) {
        const testing::TestSuite& suite = *all.GetTestSuite(i);
        std::printf("%s, %d tests skipped: %s\n", suite.name(), suite.total_test_count(), unavailable.c_str());
    }
    return 77;
}
