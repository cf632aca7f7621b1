// SPDX-License-Identifier: Apache-2.0
// A picture's matte by the methods of the ladder, as a menu would switch them.
#include <cmath>

#include <gtest/gtest.h>

#include "inference/ladder/lab_measure.h"
#include "inference/ladder/matte.h"
#include "tests/support/scene.h"

namespace matte::ladder {
namespace {

TEST(MatteByMethod, IsTheSameByEveryMethodThatRunsHere) {
    const test::Scene scene = test::makeScene({96, 64});
    const auto model = std::make_shared<const Model>(Model::random({4, 8, 16}, 3));
    const auto byDefault = makeNetwork(methodNamed("cpu-onednn"), model);
    const Planes expected = matteBy(*byDefault, model->unet, scene.photo.view(), 64).alpha;
    EXPECT_EQ(expected.size, (Size{64, 44}));
    for (const Method& method : methods()) {
        if (!method.network || !whyUnavailable(method).empty()) continue;
        const auto network = makeNetwork(method, model);
        const MethodMatte matte = matteBy(*network, model->unet, scene.photo.view(), 64);
        ASSERT_EQ(matte.alpha.size, expected.size) << method.name;
        EXPECT_LE(difference(expected.values, matte.alpha.values).maximum, method.tensorCores ? 1e-2 : 1e-5)
            << method.name;
        EXPECT_GT(matte.report.ms, 0) << method.name;
    }
}

}  // namespace
}  // namespace matte::ladder
