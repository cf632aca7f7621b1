// SPDX-License-Identifier: Apache-2.0
// Every baseline on a network whose encoder is made of bottlenecks, against the scalar oracle. What a
// machine can't run is skipped with the reason.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "inference/baselines/implementation.h"
#include "tests/support/files/model_file.h"
#include "tests/support/pictures/oracle.h"

namespace matte::baselines {
namespace {

ModelPointer mobileModel() {
    const auto file = test::encodeSafetensors(test::randomMobileUNet(3));
    return std::make_shared<const Model>(Model::load(Safetensors::parse(file, "mobile")));
}

class EveryNetwork : public testing::TestWithParam<std::string> {};

TEST_P(EveryNetwork, RunsBottlenecksAsTheOracleDoes) {
    const Implementation& implementation = implementationNamed(GetParam());
    if (const std::string why = whyUnavailable(implementation); !why.empty()) GTEST_SKIP() << why;
    const ModelPointer model = mobileModel();
    const auto network = makeNetwork(implementation, model);
    // Half precision rounds after each of a block's three layers, and adds what it rounded.
    const double nmse = implementation.nmse * (implementation.nmse > 1e-6 ? 5 : 1);
    // At the deepest level 1x1, 3x5 and 9x2 pixels: no window of 5x5 fits.
    for (const Size size : {Size{16, 16}, Size{48, 80}, Size{144, 32}}) {
        const oracle::Activation input = oracle::noise(size.height, size.width, 3, 4);
        const auto expected = oracle::run(model->unet, input);
        network->configure(size);
        std::vector<float> alpha(size.pixels());
        network->run(input.values, alpha);
        EXPECT_LE(oracle::nmse(expected.back().values, alpha), nmse);
        for (std::size_t i = 1; i < expected.size(); ++i) {
            const auto actual = network->activation(int(i));
            if (actual.empty()) continue;
            EXPECT_LE(oracle::nmse(expected[i].values, actual), nmse) << model->unet.tensors()[i].name;
        }
    }
}

std::vector<std::string> networkImplementations() {
    std::vector<std::string> names;
    for (const Implementation& implementation : implementations()) {
        if (implementation.network) names.emplace_back(implementation.name);
    }
    return names;
}

INSTANTIATE_TEST_SUITE_P(Baselines, EveryNetwork, testing::ValuesIn(networkImplementations()), [](const auto& i) {
    std::string name = i.param;
    std::ranges::replace(name, '-', '_');
    return name;
});

TEST(Bottlenecks, KeepNoNormApart) {
    const ModelPointer model = mobileModel();
    for (std::size_t i = 0; i < model->blocks.size(); ++i) {
        const Conv& layer = model->unet.layers()[i];
        const bool stem = layer.name == "down2.conv1";
        EXPECT_EQ(model->blocks[i].norm.has_value(), layer.kind == ConvKind::conv3x3 && !stem) << layer.name;
        const Filter mine = folded(model->blocks[i]);
        EXPECT_EQ(mine.weights, layer.filter.weights) << layer.name;
        EXPECT_EQ(mine.bias, layer.filter.bias) << layer.name;
    }
}

TEST(Bottlenecks, CountForProgressAndHaveTimes) {
    const ModelPointer model = mobileModel();
    const auto network = makeNetwork(implementationNamed("cpu-parallel"), model);
    network->configure({32, 16});
    network->timeLayers(true);
    const std::vector<float> input(std::size_t(32 * 16 * 3), 0.5F);
    std::vector<float> alpha(std::size_t(32 * 16));
    const RunReport report = network->run(input, alpha);
    EXPECT_NEAR(network->begun(), 1, 1e-9);
    ASSERT_EQ(report.layerMs.size(), model->unet.layers().size());
    for (const float ms : report.layerMs) EXPECT_GT(ms, 0);
}

TEST(Bottlenecks, AreCopiedAroundEachStep) {
    if (const auto why = whyUnavailable(implementationNamed("gpu-fused")); !why.empty()) GTEST_SKIP() << why;
    const auto network = makeNetwork(implementationNamed("gpu-fused"), mobileModel());
    network->configure({32, 16});
    std::vector<float> alpha(std::size_t(32 * 16));
    const RunReport report = network->run(oracle::noise(16, 32, 3, 5).values, alpha);
    ASSERT_EQ(report.transfers.size(), 10U);
    const int steps[] = {1, 3, 7, 7, 3, 3, 3, 3, 3, 1};  // down3 and down4 with one addition, down5 with the pooling
    for (std::size_t i = 0; i < 10; ++i) {
        EXPECT_EQ(report.transfers[i].in, steps[i]) << report.transfers[i].block;
        EXPECT_EQ(report.transfers[i].out, steps[i]) << report.transfers[i].block;
    }
}

}  // namespace
}  // namespace matte::baselines
